#include "tests/tile_core/dsl/misuse.h"

namespace tessera::dsl {
namespace {

using test::Misuse;
using test::name_of_case;
using test::Text;

class Errors : public ::testing::TestWithParam<Misuse> {};

TEST_P(Errors, SayWhatWhereTheValuesAndAWayOut) {
  EXPECT_EQ(test::error_of(GetParam().write), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Subscripts, Errors,
    ::testing::Values(
        Misuse{"too_few", [](Text& t) { t.a(t.m); },
               "tile error: 'a' has 2 dims and is indexed with 1\n  --> HERE\n   a bf16(M, K)\n"
               "   help: write one subscript per dim"},
        Misuse{"too_many", [](Text& t) { t.out(t.m, t.n, t.k) = 0; },
               "tile error: 'out' has 2 dims and is indexed with 3\n  --> HERE\n   out bf16(M, N)\n"
               "   help: write one subscript per dim"},
        Misuse{"another_dim", [](Text& t) { t.a(t.n, t.k); },
               "tile error: subscript 1 of 'a' is an axis of another dim\n  --> HERE\n"
               "   a bf16(M, K)  axis n runs over N\n"
               "   help: index each dim with an axis of that dim, or with a scalar"},
        Misuse{"a_tile", [](Text& t) { t.a(t.m.index(), t.k); },
               "tile error: subscript 1 of 'a' is a tile\n  --> HERE\n   a bf16(M, K)  subscript: i64[m:16]\n"
               "   help: a subscript is an axis or a scalar"},
        Misuse{"float_subscript", [](Text& t) { t.a(t.m, cast(f32, t.k.start())); },
               "tile error: subscript 2 of 'a' is f32\n  --> HERE\n   a bf16(M, K)  subscript: f32\n"
               "   help: a subscript is an axis or an integer scalar"},
        Misuse{
            "one_axis_twice",
            [](Text& t) {
              In square = t.p.in("square", f32, {t.M, t.M});
              square(t.m, t.m);
            },
            "tile error: 'square' is indexed twice with one axis\n  --> HERE\n   square f32(M, M)  axis: m\n"
            "   help: make a second axis over the same dim"},
        Misuse{"stored_dtype",
               [](Text& t) {
                 t.out(t.m, t.n) = t.p.zeros(f32, {t.m, t.n});
               },
               "tile error: a store to 'out' of another type\n  --> HERE\n"
               "   tensor: bf16[m:16, n:8]  value: f32[m:16, n:8]\n"
               "   help: cast the value to the tensor's dtype, and reduce the axes that it lacks"},
        Misuse{"stored_axes",
               [](Text& t) {
                 t.sums(t.m) = t.p.zeros(f32, {t.m, t.n});
               },
               "tile error: a store to 'sums' of another type\n  --> HERE\n"
               "   tensor: f32[m:16]  value: f32[m:16, n:8]\n"
               "   help: cast the value to the tensor's dtype, and reduce the axes that it lacks"}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Expressions, Errors,
    ::testing::Values(
        Misuse{"only_numbers", [](Text&) { max(1, 2); },
               "tile error: an expression has only plain numbers\n  --> HERE\n"
               "   help: at least one operand must be a tile"},
        Misuse{"dtypes", [](Text& t) { t.a(t.m, t.k) + t.rows(t.m); },
               "tile error: add of f32 and i32\n  --> HERE\n   first: bf16[m:16, k:32]  second: i32[m:16]\n"
               "   help: cast one operand: cast(f32, x)"},
        Misuse{"fraction", [](Text& t) { t.m.index() * 0.5; },
               "tile error: the number 0.5 where i64 stands\n  --> HERE\n"
               "   help: write a number that the dtype holds, or cast the other operand: cast(f32, x)"},
        Misuse{"infinite_integer", [](Text& t) { t.p.full(i64, {t.m}, -inf); },
               "tile error: the number -inf where i64 stands\n  --> HERE\n"
               "   help: write a number that the dtype holds, or cast the other operand: cast(f32, x)"},
        Misuse{"integer_out_of_range", [](Text& t) { t.rows(t.m) + 3000000000; },
               "tile error: the number 3000000000 where i32 stands\n  --> HERE\n"
               "   help: write a number that the dtype holds, or cast the other operand: cast(f32, x)"},
        Misuse{"integer_above_any", [](Text& t) { t.m.index() + 1e300; },
               "tile error: the number 1e+300 where i64 stands\n  --> HERE\n"
               "   help: write a number that the dtype holds, or cast the other operand: cast(f32, x)"},
        Misuse{"integer_of_more_digits", [](Text& t) { t.m.index() <= INT64_MAX; },
               "tile error: the number 9223372036854775807 has more than 53 bits\n  --> HERE\n"
               "   help: pass it as a number of the call: p.scalar(\"limit\", i64)"},
        Misuse{"negative_integer_of_more_digits", [](Text& t) { t.p.full(i64, {t.m}, -9007199254740993); },
               "tile error: the number -9007199254740993 has more than 53 bits\n  --> HERE\n"
               "   help: pass it as a number of the call: p.scalar(\"limit\", i64)"},
        Misuse{"float_out_of_range", [](Text& t) { t.bias(t.n) * 1e300; },
               "tile error: the number 1e+300 where f32 stands\n  --> HERE\n"
               "   help: it is beyond what the dtype holds: write a smaller one, inf, or 0"},
        Misuse{"half_out_of_range", [](Text& t) { t.p.full(f16, {t.m}, 70000); },
               "tile error: the number 70000 where f16 stands\n  --> HERE\n"
               "   help: it is beyond what the dtype holds: write a smaller one, inf, or 0"},
        Misuse{"float_that_would_be_0", [](Text& t) { t.bias(t.n) + 1e-60; },
               "tile error: the number 1e-60 where f32 stands\n  --> HERE\n"
               "   help: it is beyond what the dtype holds: write a smaller one, inf, or 0"},
        Misuse{"axes_that_meet_first", [](Text& t) { t.bias(t.n) + t.p.zeros(f32, {t.m}); },
               "tile error: add joins axes that no operand has together\n  --> HERE\n"
               "   first: f32[n:8]  second: f32[m:16]\n"
               "   help: write outer(x, y) where every pair is meant, or index both with the same axes"},
        Misuse{"arithmetic_on_booleans", [](Text& t) { t.chosen(t.m) + t.chosen(t.m); },
               "tile error: add of boolean\n  --> HERE\n   first: boolean[m:16]  second: boolean[m:16]\n"
               "   help: select between values: where(condition, a, b)"},
        Misuse{"logic_on_numbers", [](Text& t) { t.bias(t.n) && t.bias(t.n); },
               "tile error: logical_and of f32\n  --> HERE\n   first: f32[n:8]  second: f32[n:8]\n"
               "   help: write comparisons first"},
        Misuse{"not_of_a_number", [](Text& t) { !t.bias(t.n); },
               "tile error: logical_not of f32\n  --> HERE\n   first: f32[n:8]\n   help: write a comparison "
               "first"},
        Misuse{"function_of_an_index", [](Text& t) { exp(t.m.index()); },
               "tile error: exp of i64\n  --> HERE\n   first: i64[m:16]\n   help: cast the operand: "
               "cast(f32, x)"},
        Misuse{"remainder_of_fractions", [](Text& t) { t.bias(t.n) % 2; },
               "tile error: mod of floating-point numbers\n  --> HERE\n   first: f32[n:8]  second: 2\n"
               "   help: % is for indices: i64"},
        Misuse{"rescale_of_an_index", [](Text& t) { rescale(t.m.index(), 1); },
               "tile error: rescale of i64\n  --> HERE\n   first: i64[m:16]  second: 1\n   help: it is for "
               "sums, "
               "which are f32: cast(f32, x)"},
        Misuse{"division_by_zero", [](Text& t) { t.n.index() / 0; },
               "tile error: div of integers by 0\n  --> HERE\n   first: i64[n:8]  second: 0\n"
               "   help: divide by a number, or by a value that is not 0"},
        Misuse{"no_condition", [](Text& t) { where(t.bias(t.n), 1, t.bias(t.n)); },
               "tile error: where() needs a condition\n  --> HERE\n"
               "   first: f32[n:8]  second: 1  third: f32[n:8]\n   help: compare: where(x < y, a, b)"},
        Misuse{"two_numbers", [](Text& t) { where(t.chosen(t.m), 1, 0); },
               "tile error: where() chooses between two numbers of unknown dtype\n  --> HERE\n"
               "   first: boolean[m:16]  second: 1  third: 0\n   help: make one a tile: p.full(f32, {axis}, "
               "value)"},
        Misuse{
            "reduced_axis", [](Text& t) { reduce_sum(t.bias(t.n), t.m); },
            "tile error: reduce_sum over axis 'm', which the operand lacks\n  --> HERE\n   first: f32[n:8]\n"
            "   help: reduce over an axis of the operand"},
        Misuse{"reduced_boolean", [](Text& t) { reduce_max(t.chosen(t.m), t.m); },
               "tile error: reduce_max of boolean\n  --> HERE\n   first: boolean[m:16]\n"
               "   help: select numbers first: where(condition, 1, 0)"},
        Misuse{
            "contracted_axis", [](Text& t) { dot(t.a(t.m, t.k), t.bias(t.n), t.k); },
            "tile error: dot contracts over axis 'k', but the second operand has no such axis\n  --> HERE\n"
            "   first: bf16[m:16, k:32]  second: f32[n:8]\n   help: index both operands with the axis you "
            "contract"},
        Misuse{
            "contracted_number", [](Text& t) { dot(2, t.a(t.m, t.k), t.k); },
            "tile error: dot contracts over axis 'k', but the first operand has no such axis\n  --> HERE\n"
            "   first: 2  second: bf16[m:16, k:32]\n   help: index both operands with the axis you contract"},
        Misuse{"dot_of_integers", [](Text& t) { dot(t.rows(t.m), t.rows(t.m), t.m); },
               "tile error: the first operand of a dot is i32\n  --> HERE\n   first: i32[m:16]  second: "
               "i32[m:16]\n"
               "   help: operands are f16, bf16 or f32: cast(f32, x)"},
        Misuse{"dot_of_16_bits_in_tf32",
               [](Text& t) { dot(cast(f32, t.a(t.m, t.k)), t.a(t.m, t.k), t.k, Precision::tf32); },
               "tile error: the second operand of a dot in tf32 is bf16\n  --> HERE\n"
               "   first: f32[m:16, k:32]  second: bf16[m:16, k:32]\n"
               "   help: only f32 is rounded: leave the precision out, or cast(f32, x)"},
        Misuse{"axis_in_both", [](Text& t) { dot(t.a(t.m, t.k), t.a(t.m, t.k), t.k); },
               "tile error: both operands of a dot have axis 'm'\n  --> HERE\n"
               "   first: bf16[m:16, k:32]  second: bf16[m:16, k:32]\n"
               "   help: only the contracted axis 'k' may stand in both"}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Loops, Errors,
    ::testing::Values(
        Misuse{"var_dtype",
               [](Text& t) {
                 Var x = t.p.zeros(f32, {t.m});
                 x = t.p.zeros(i64, {t.m});
               },
               "tile error: a Var is assigned a value of another type\n  --> HERE\n"
               "   variable: f32[m:16]  value: i64[m:16]\n"
               "   help: a Var keeps the dtype and the axes that it was made with"},
        Misuse{"var_axes",
               [](Text& t) {
                 Var x = t.p.zeros(f32, {t.m});
                 x += t.p.zeros(f32, {t.m, t.n});
               },
               "tile error: a Var is assigned a value of another type\n  --> HERE\n"
               "   variable: f32[m:16]  value: f32[m:16, n:8]\n"
               "   help: a Var keeps the dtype and the axes that it was made with"},
        Misuse{"bounds", [](Text& t) { t.p.pipelined(t.K, 8, 0, t.m.index()); },
               "tile error: the end of a loop is no integer scalar\n  --> HERE\n   end: i64[m:16]\n"
               "   help: write a Dim, a number, or a scalar such as i.start() + 1"},
        Misuse{"broken_off",
               [](Text& t) {
                 for (Axis k : t.p.pipelined(t.K, 8)) {
                   if (k.info().extent == 8) break;
                 }
                 t.p.finish();
               },
               "tile error: a loop is left before its body ends\n  --> HERE\n"
               "   help: the body is traced once: no break, no return; select with where()"},
        Misuse{"not_looped_over",
               [](Text& t) {
                 { LoopRange loop = t.p.pipelined(t.K, 8); }
                 t.p.finish();
               },
               "tile error: a loop range is not looped over\n  --> HERE\n"
               "   help: the body is traced once: no break, no return; select with where()"},
        Misuse{"looped_over_twice",
               [](Text& t) {
                 LoopRange loop = t.p.pipelined(t.K, 8);
                 for (Axis k : loop) t.a(t.m, k);
                 for (Axis k : loop) t.a(t.m, k);
               },
               "tile error: a loop range is looped over twice\n  --> HERE\n"
               "   help: write for (Axis k : p.pipelined(K, 32)) once more: each loop has its own axis"},
        Misuse{"finished_inside",
               [](Text& t) {
                 for (Axis k : t.p.pipelined(t.K, 8)) t.a(t.m, k), t.p.finish();
               },
               "tile error: finish() inside a loop\n  --> HERE\n   the loop opened here is not closed\n"
               "   help: call finish() after the loop's body"},
        Misuse{"value_after_its_loop",
               [](Text& t) {
                 std::vector<Tile> kept;
                 for (Axis k : t.p.pipelined(t.K, 8)) kept.push_back(reduce_sum(t.a(t.m, k), k));
                 t.sums(t.m) = kept.front();
               },
               "tile error: a value of a loop's body is used after the loop\n  --> HERE\n"
               "   value: f32[m:16], made at HERE\n   help: assign it to a Var that is made before the loop"},
        Misuse{"axis_outside_its_loop",
               [](Text& t) {
                 std::vector<Axis> kept;
                 for (Axis k : t.p.pipelined(t.K, 8)) kept.push_back(k);
                 t.a(t.m, kept.front());
               },
               "tile error: axis 'k2' is used outside of its loop\n  --> HERE\n   k2:8 runs over K\n"
               "   help: use it in the loop's body, or make another axis over the dim"},
        Misuse{"var_after_its_loop",
               [](Text& t) {
                 std::unique_ptr<Var> kept;
                 for (Axis k : t.p.pipelined(t.K, 8))
                   kept = std::make_unique<Var>(reduce_sum(t.a(t.m, k), k));
                 *kept + 1;
               },
               "tile error: a Var of a loop's body is used after the loop\n  --> HERE\n"
               "   help: make it before the loop"}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Softmaxes, Errors,
    ::testing::Values(
        Misuse{"scores_without_the_axis",
               [](Text& t) { OnlineSoftmax(t.p, {t.m}).weights(cast(f32, t.rows(t.m)), t.k); },
               "tile error: the scores of a softmax do not fit its rows\n  --> HERE\n"
               "   scores: f32[m:16]  rows: f32[m:16]  axis: k\n"
               "   help: scores are floats over the rows that the OnlineSoftmax was made with and the axis"},
        Misuse{"scores_without_the_rows",
               [](Text& t) { OnlineSoftmax(t.p, {t.m}).weights(t.b(t.n, t.k), t.k); },
               "tile error: the scores of a softmax do not fit its rows\n  --> HERE\n"
               "   scores: bf16[n:8, k:32]  rows: f32[m:16]  axis: k\n"
               "   help: scores are floats over the rows that the OnlineSoftmax was made with and the axis"},
        Misuse{"scores_with_another_axis",
               [](Text& t) { OnlineSoftmax(t.p, {t.m}).weights(broadcast(t.a(t.m, t.k), {t.n}), t.k); },
               "tile error: the scores of a softmax do not fit its rows\n  --> HERE\n"
               "   scores: bf16[m:16, k:32, n:8]  rows: f32[m:16]  axis: k\n"
               "   help: scores are floats over the rows that the OnlineSoftmax was made with and the axis"},
        Misuse{"integer_scores",
               [](Text& t) { OnlineSoftmax(t.p, {t.m}).weights(t.m.index() + t.k.index(), t.k); },
               "tile error: the scores of a softmax do not fit its rows\n  --> HERE\n"
               "   scores: i64[m:16, k:32]  rows: f32[m:16]  axis: k\n"
               "   help: scores are floats over the rows that the OnlineSoftmax was made with and the axis"},
        Misuse{"a_number_as_scores", [](Text& t) { OnlineSoftmax(t.p, {t.m}).weights(1, t.k); },
               "tile error: the scores of a softmax are a number\n  --> HERE\n"
               "   rows: f32[m:16]  axis: k\n"
               "   help: scores are floats over the rows that the OnlineSoftmax was made with and the axis"},
        Misuse{"scale_of_each_row",
               [](Text& t) { OnlineSoftmax(t.p, {t.m}, reduce_sum(t.a(t.m, t.k), t.k)); },
               "tile error: the scale of a softmax is one number for all rows\n  --> HERE\n"
               "   scale: f32[m:16]\n   help: write p.scalar(\"scale\", f32), or multiply the scores"},
        Misuse{"weights_before_scores",
               [](Text& t) { OnlineSoftmax(t.p, {t.m}).weights_so_far(t.a(t.m, t.k)); },
               "tile error: weights_so_far() of a softmax that has seen no scores\n  --> HERE\n"
               "   help: weights(scores, axis) takes them into account: it comes first"},
        Misuse{"weights_so_far_of_other_rows",
               [](Text& t) {
                 OnlineSoftmax row(t.p, {t.m});
                 row.weights(t.a(t.m, t.k), t.k);
                 row.weights_so_far(t.b(t.n, t.k));
               },
               "tile error: the scores of a softmax do not fit its rows\n  --> HERE\n"
               "   scores: bf16[n:8, k:32]  rows: f32[m:16]\n"
               "   help: scores are floats over the rows that the OnlineSoftmax was made with and the axis"},
        Misuse{"mask_without_a_condition", [](Text& t) { mask(t.a(t.m, t.k), t.bias(t.n), t.k); },
               "tile error: where() needs a condition\n  --> HERE\n"
               "   first: f32[n:8]  second: bf16[m:16, k:32]  third: -inf\n"
               "   help: compare: where(x < y, a, b)"},
        Misuse{"mask_of_another_loop",
               [](Text& t) {
                 std::vector<Axis> kept;
                 for (Axis k : t.p.pipelined(t.K, 8)) kept.push_back(k);
                 mask(t.a(t.m, t.k), t.m.index() < 3, kept.front());
               },
               "tile error: axis 'k2' is used outside of its loop\n  --> HERE\n   k2:8 runs over K\n"
               "   help: use it in the loop's body, or make another axis over the dim"}),
    name_of_case);

TEST(Errors, NameTheLineOfTheMistake) {
  Text t;
  try {
    t.bias(t.n) + t.rows(t.m);
    ADD_FAILURE() << "no error";
  } catch (const UserError& error) {
    std::string place = fmt::format("{}:{}", __FILE__, __LINE__ - 3);
    EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
  }
}

TEST(Errors, SomeMistakesDoNotCompile) {
  static_assert(!std::is_assignable_v<Tile&, const Tile&>);        // a lost update in a loop: use Var
  static_assert(!std::is_convertible_v<Tile, bool>);               // an if on a tile: use where()
  static_assert(!std::is_assignable_v<Out::Place&, const Tile&>);  // a place kept for later
  static_assert(!std::is_copy_constructible_v<LoopRange>);
  static_assert(!std::is_copy_constructible_v<Builder>);
}

}  // namespace
}  // namespace tessera::dsl
