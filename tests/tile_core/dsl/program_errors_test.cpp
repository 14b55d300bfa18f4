#include "tests/tile_core/dsl/misuse.h"

namespace tessera::dsl {
namespace {

using test::Misuse;
using test::name_of_case;
using test::Text;

class ProgramErrors : public ::testing::TestWithParam<Misuse> {};

TEST_P(ProgramErrors, SayWhatWhereTheValuesAndAWayOut) {
  EXPECT_EQ(test::error_of(GetParam().write), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Declarations, ProgramErrors,
    ::testing::Values(
        Misuse{"program_name", [](Text&) { Builder p("my program"); },
               "tile error: 'my program' is no name for a program\n  --> HERE\n"
               "   help: letters, digits and underscores, the first no digit"},
        Misuse{"dim_name", [](Text& t) { t.p.dim("2K"); },
               "tile error: '2K' is no name for a dim\n  --> HERE\n"
               "   help: letters, digits and underscores, the first no digit"},
        Misuse{"two_dims", [](Text& t) { t.p.dim("M"); },
               "tile error: two dims are named 'M'\n  --> HERE\n   help: give each its own name"},
        Misuse{"two_tensors", [](Text& t) { t.p.in("a", f32, {t.M}); },
               "tile error: two tensors are named 'a'\n  --> HERE\n   help: give each its own name"},
        Misuse{"two_scalars", [](Text& t) { t.p.scalar("x", f32), t.p.scalar("x", f32); },
               "tile error: two scalars are named 'x'\n  --> HERE\n   help: give each its own name"},
        Misuse{"scalar_dtype", [](Text& t) { t.p.scalar("x", bf16); },
               "tile error: scalar 'x' is bf16\n  --> HERE\n   help: a number of the call is f32 or i64"},
        Misuse{"rank", [](Text& t) { t.p.in("x", f32, std::vector<Dim>(9, t.M)); },
               "tile error: tensor 'x' has 9 dims\n  --> HERE\n"
               "   help: a tensor has at most 8: let two that lie side by side be one"},
        Misuse{"tile_size", [](Text& t) { t.p.grid(t.M, 0); },
               "tile error: a tile of 0 along M\n  --> HERE\n   help: 1 to 1048576 lanes"},
        Misuse{"dim_of_no_tensor",
               [](Text& t) {
                 t.p.dim("Z");
                 t.p.finish();
               },
               "tile error: no tensor has the dim 'Z'\n  --> HERE\n   a call's tensors say how large its "
               "dims are\n"
               "   help: declare a tensor over it, or pass a number: p.scalar(\"size\", i64)"},
        Misuse{"output_never_written", [](Text& t) { t.p.finish(); },
               "tile error: output 'out' is never written\n  --> HERE\n"
               "   help: assign a tile to it: out(...) = tile"},
        Misuse{"blocks_store_to_one_place",
               [](Text& t) {
                 Var sum = t.p.zeros(f32, {t.m});
                 for (Axis k : t.p.pipelined(t.K, 8))
                   sum += reduce_sum(dot(t.a(t.m, k), t.b(t.n, k), k), t.n);
                 t.out(t.m, t.n) = 0;
                 t.sums(t.m) = sum;
                 t.p.finish();
               },
               "tile error: blocks along grid axis 'n' store different values to one place of 'sums'\n"
               "  --> HERE\n   n:8 runs over N\n"
               "   help: index the output with n, or loop over N in place of its grid: for (Axis n : "
               "p.pipelined(N, 8))"},
        Misuse{
            "places_shared_by_two_tiles",
            [](Text& t) {
              t.out(t.m, t.n) = 0;
              t.sums(t.m.start() / 32) = cast(f32, t.m.start());
              t.p.finish();
            },
            "tile error: blocks along grid axis 'm' store different values to one place of 'sums'\n"
            "  --> HERE\n   m:16 runs over M, and the subscripts made from it are not known to differ from "
            "tile to tile\n"
            "   help: index the output with m, or loop over M in place of its grid: for (Axis m : "
            "p.pipelined(M, 16))"},
        Misuse{"stores_that_may_meet",
               [](Text& t) {
                 t.out(t.m, t.n) = 0;
                 t.sums(t.m.start()) = 1;
                 t.sums(t.m.start() + 16) = 2;
                 t.p.finish();
               },
               "tile error: two stores to 'sums' may meet in one place\n  --> HERE\n"
               "   the other is at HERE; threads and blocks store in any order, and no subscripts of one dim "
               "are "
               "known to differ always\n"
               "   help: store one tile (where() joins two), or to two outputs, or with different numbers "
               "along a "
               "dim, as in sums(..., 0) = and sums(..., 1) ="},
        Misuse{"sum_of_16_bits", [](Text& t) { t.out(t.m, t.n) += 1; },
               "tile error: 'out' is bf16, and tiles are added to f32 alone\n  --> HERE\n   out bf16(M, N)\n"
               "   help: declare it f32, whose sums are rounded less, and cast them after the call"},
        Misuse{"sum_of_integers", [](Text& t) { t.p.out("counts", i64, {t.M})(t.m) += 1; },
               "tile error: 'counts' is i64, and tiles are added to f32 alone\n  --> HERE\n   counts i64(M)\n"
               "   help: declare it f32, or sum in a loop and assign: out(...) = sum"},
        Misuse{
            "sum_of_another_type", [](Text& t) { t.sums(t.m) += t.bias(t.n); },
            "tile error: a sum to 'sums' of another type\n  --> HERE\n   tensor: f32[m:16]  value: f32[n:8]\n"
            "   help: cast the value to the tensor's dtype, and reduce the axes that it lacks"},
        Misuse{"sum_and_store",
               [](Text& t) {
                 t.out(t.m, t.n) = 0;
                 t.sums(t.m) += 1;
                 t.sums(t.m) = 0;
                 t.p.finish();
               },
               "tile error: tiles are both added to 'sums' and assigned\n  --> HERE\n"
               "   blocks run in any order: an assignment may come before an addition, or after it\n"
               "   help: it starts as 0: write sums(...) += tile everywhere, or sums(...) = tile"},
        Misuse{"store_after_finish",
               [](Text& t) {
                 t.out(t.m, t.n) = 0;
                 t.sums(t.m) = 0;
                 t.p.finish();
                 t.sums(t.m) = 1;
               },
               "tile error: a store after finish()\n  --> HERE\n"
               "   help: call finish() after the last statement"},
        Misuse{"tile_of_many_elements",
               [](Text& t) {
                 t.p.zeros(f32, {t.p.all(t.M, 65536), t.p.all(t.K, 65536)});
               },
               "tile error: a tile of 4294967296 elements\n  --> HERE\n   tile: f32[m2:65536, k2:65536]\n"
               "   help: a tile has at most 1048576: take smaller tiles of its axes"}),
    name_of_case);

/// What every block stores alike may be stored by each.

TEST(Stores, OfEqualValuesNeedNoAxisOfTheirOwn) {
  Text t;
  t.out(t.m, t.n) = 0;
  t.sums(t.m) = reduce_sum(t.a(t.m, t.k), t.k);
  EXPECT_NO_THROW(t.p.finish());
}

TEST(Stores, TakeAGridAxisThroughALoop) {
  Builder p("p");
  Dim M = p.dim("M");
  In x = p.in("x", f32, {M});
  Out out = p.out("out", f32, {M});
  Axis block = p.grid(M, 64);
  for (Axis m : p.pipelined(M, 16, block.start(), block.end())) out(m) = x(m) + cast(f32, block.start());
  EXPECT_NO_THROW(p.finish());
}

/// A program whose blocks along h and m store to out[place, other], and in a loop over k.
struct Placed {
  Builder p{"placed"};
  Dim H = p.dim("H"), M = p.dim("M"), K = p.dim("K");
  In x = p.in("x", f32, {H, M}), rows = p.in("rows", i64, {H}), y = p.in("y", f32, {K});
  Out out = p.out("out", f32, {H, M});
  Tile h = p.grid(H);
  Axis m = p.grid(M, 16);
  Tile start = m.start();
};

struct PlacedStore {
  const char* name;
  void (*write)(Placed& t);
  bool fits;
};
void PrintTo(const PlacedStore& s, std::ostream* out) {
  *out << s.name;
}

class PlacesOf : public ::testing::TestWithParam<PlacedStore> {
 protected:
  static void finishes_where_it_fits() {
    Placed t;
    GetParam().write(t);
    if (GetParam().fits) {
      EXPECT_NO_THROW(t.p.finish());
    } else {
      EXPECT_THROW(t.p.finish(), UserError);
    }
  }
};

TEST_P(PlacesOf, AStoreAreAnotherForEveryTile) {
  finishes_where_it_fits();
}

/// Loops over [begin, end) of the dim K and stores what the block makes.
template <int kTile>
void loop_over(Placed& t, const Operand& begin, const Operand& end) {
  Out z = t.p.out("z", f32, {t.K});
  t.out(t.h, t.m) = 0;
  for (Axis k : t.p.sequential(t.K, kTile, begin, end)) z(k) = t.y(k) + cast(f32, t.start);
}

INSTANTIATE_TEST_SUITE_P(
    Stores, PlacesOf,
    ::testing::Values(
        PlacedStore{"axes", [](Placed& t) { t.out(t.h, t.m) = t.x(t.h, t.m); }, true},
        PlacedStore{"half", [](Placed& t) { t.out(t.h / 2, t.m) = t.x(t.h, t.m); }, false},
        PlacedStore{"half_and_rest", [](Placed& t) { t.out(t.h / 2, t.h % 2) = t.x(t.h, 0); }, true},
        PlacedStore{"half_and_another_rest", [](Placed& t) { t.out(t.h / 2, t.h % 3) = t.x(t.h, 0); }, false},
        PlacedStore{"rest", [](Placed& t) { t.out(t.h % 2, t.m) = t.x(t.h, t.m); }, false},
        PlacedStore{"shifted", [](Placed& t) { t.out(t.h + 3, t.m) = t.x(t.h, t.m); }, true},
        PlacedStore{"reversed", [](Placed& t) { t.out(7 - t.h, t.m) = t.x(t.h, t.m); }, true},
        PlacedStore{"negative", [](Placed& t) { t.out(-t.h, t.m) = t.x(t.h, t.m); }, true},
        PlacedStore{"spread", [](Placed& t) { t.out(t.h * 2, t.m) = t.x(t.h, t.m); }, true},
        PlacedStore{"spread_and_halved", [](Placed& t) { t.out(t.h * 2 / 2, t.m) = t.x(t.h, t.m); }, true},
        PlacedStore{"spread_by_nothing", [](Placed& t) { t.out(t.h * 0, t.m) = t.x(t.h, t.m); }, false},
        PlacedStore{"cancelled", [](Placed& t) { t.out(t.h - t.h, t.m) = t.x(t.h, t.m); }, false},
        PlacedStore{"clamped", [](Placed& t) { t.out(min(t.h, 3), t.m) = t.x(t.h, t.m); }, false},
        PlacedStore{"squared", [](Placed& t) { t.out((t.h - 4) * (t.h - 4), t.m) = t.x(t.h, t.m); }, false},
        PlacedStore{"loaded", [](Placed& t) { t.out(t.rows(t.h), t.m) = t.x(t.h, t.m); }, false},
        PlacedStore{"number_of_the_tile", [](Placed& t) { t.out(t.h, t.start / 16) = t.x(t.h, t.start); },
                    true},
        PlacedStore{"number_of_two_tiles", [](Placed& t) { t.out(t.h, t.start / 17) = t.x(t.h, t.start); },
                    false},
        PlacedStore{"sum_of_two", [](Placed& t) { t.out(t.h + t.start, 0) = t.x(t.h, t.start); }, false},
        PlacedStore{"sum_with_the_other", [](Placed& t) { t.out(t.h + t.start, t.m) = t.x(t.h, t.m); }, true},
        PlacedStore{"sum_that_the_value_lacks", [](Placed& t) { t.out(t.h + t.start, 0) = t.x(t.h, 0); },
                    false},
        PlacedStore{"alike", [](Placed& t) { t.out(t.h / 2, t.m) = t.x(0, t.m); }, true},
        PlacedStore{"loop", [](Placed& t) { loop_over<8>(t, t.start, t.start + 16); }, true},
        PlacedStore{"loop_up_to_the_end",
                    [](Placed& t) { loop_over<8>(t, t.start, min(t.start + 16, t.p.scalar("end", i64))); },
                    true},
        PlacedStore{"loop_of_ragged_tiles", [](Placed& t) { loop_over<12>(t, t.start, t.start + 16); },
                    false},
        PlacedStore{"loop_into_the_next", [](Placed& t) { loop_over<8>(t, t.start, t.start + 17); }, false},
        PlacedStore{"loop_to_the_end", [](Placed& t) { loop_over<8>(t, t.start, t.p.scalar("end", i64)); },
                    false},
        PlacedStore{"loop_from_the_same", [](Placed& t) { loop_over<8>(t, t.start / 2, t.start / 2 + 16); },
                    false}),
    [](const auto& info) { return std::string(info.param.name); });

/// Loops over [0, middle) and [middle, K) and stores in both.
template <int kTile>
void two_loops(Placed& t, const Operand& middle, const Operand& begin) {
  Out z = t.p.out("z", f32, {t.M, t.K});
  t.out(t.h, t.m) = 0;
  for (Axis k : t.p.sequential(t.K, kTile, 0, middle)) z(t.m, k) = outer(t.x(0, t.m), t.y(k));
  for (Axis k : t.p.sequential(t.K, kTile, begin, t.K)) z(t.m, k) = outer(t.x(1, t.m), t.y(k));
}

/// Stores to out[place, m] and to out[other, m].
void two_stores(Placed& t, const Position& place, const Position& other) {
  t.out.at({place, t.m}) = 0;
  t.out.at({other, t.m}) = 1;
}

class PairsOf : public PlacesOf {};

TEST_P(PairsOf, StoresNeverMeet) {
  finishes_where_it_fits();
}

INSTANTIATE_TEST_SUITE_P(
    Stores, PairsOf,
    ::testing::Values(
        PlacedStore{"numbers", [](Placed& t) { two_stores(t, 0, 1); }, true},
        PlacedStore{"one_number", [](Placed& t) { two_stores(t, 1, 1); }, false},
        PlacedStore{"the_same", [](Placed& t) { two_stores(t, t.h, t.h); }, false},
        PlacedStore{"the_next", [](Placed& t) { two_stores(t, t.h, t.h + 1); }, false},
        PlacedStore{"another", [](Placed& t) { two_stores(t, t.h, 3); }, false},
        PlacedStore{"even_and_odd", [](Placed& t) { two_stores(t, t.h * 2, t.h * 2 + 1); }, true},
        PlacedStore{"odd_and_even", [](Placed& t) { two_stores(t, t.h * 2 - 1, t.h * 2); }, true},
        PlacedStore{"even", [](Placed& t) { two_stores(t, t.h * 2, t.h * 2 + 2); }, false},
        PlacedStore{"by_two_axes", [](Placed& t) { two_stores(t, t.h * 4 + t.start, t.h * 4 + t.start + 2); },
                    true},
        PlacedStore{"by_two_axes_that_fill",
                    [](Placed& t) { two_stores(t, t.h * 3 + t.start, t.h * 3 + t.start + 2); }, false},
        PlacedStore{"clamped", [](Placed& t) { two_stores(t, min(t.h * 2, 8), min(t.h * 2, 8) + 1); }, false},
        PlacedStore{"loaded", [](Placed& t) { two_stores(t, t.rows(t.h), t.rows(t.h) + 1); }, false},
        PlacedStore{"loops_of_numbers", [](Placed& t) { two_loops<8>(t, 16, 16); }, true},
        PlacedStore{"loops_with_a_ragged_tile", [](Placed& t) { two_loops<8>(t, 20, 20); }, false},
        PlacedStore{"loops_that_meet", [](Placed& t) { two_loops<8>(t, 16, 8); }, false},
        PlacedStore{"loops_of_whole_tiles",
                    [](Placed& t) { two_loops<8>(t, cast(i64, t.K) / 16 * 8, cast(i64, t.K) / 16 * 8); },
                    true},
        PlacedStore{"loops_of_parts_of_tiles",
                    [](Placed& t) { two_loops<8>(t, cast(i64, t.K) / 16 * 4, cast(i64, t.K) / 16 * 4); },
                    false},
        PlacedStore{"loops_of_each_block", [](Placed& t) { two_loops<8>(t, t.h * 8, t.h * 8); }, false}),
    [](const auto& info) { return std::string(info.param.name); });

struct Other {
  Builder p{"other"};
  Dim M = p.dim("M");
  In x = p.in("x", f32, {M});
  Axis m = p.grid(M, 16);
};

constexpr const char* kTwoPrograms =
    "tile error: two programs meet\n  --> HERE\n   'text' and 'other'\n   help: make dims, axes and values "
    "with one Builder";

INSTANTIATE_TEST_SUITE_P(TwoPrograms, ProgramErrors,
                         ::testing::Values(Misuse{"dim",
                                                  [](Text& t) {
                                                    Other o;
                                                    t.p.grid(o.M, 8);
                                                  },
                                                  kTwoPrograms},
                                           Misuse{"tensor",
                                                  [](Text& t) {
                                                    Other o;
                                                    t.p.in("x", f32, {o.M});
                                                  },
                                                  kTwoPrograms},
                                           Misuse{"subscript",
                                                  [](Text& t) {
                                                    Other o;
                                                    t.chosen(o.m);
                                                  },
                                                  kTwoPrograms},
                                           Misuse{"scalar_subscript",
                                                  [](Text& t) {
                                                    Other o;
                                                    t.chosen(o.m.start());
                                                  },
                                                  kTwoPrograms},
                                           Misuse{"expression",
                                                  [](Text& t) {
                                                    Other o;
                                                    t.bias(t.n) + o.x(o.m);
                                                  },
                                                  kTwoPrograms},
                                           Misuse{"axis",
                                                  [](Text& t) {
                                                    Other o;
                                                    reduce_sum(t.bias(t.n), o.m);
                                                  },
                                                  kTwoPrograms},
                                           Misuse{"zeros",
                                                  [](Text& t) {
                                                    Other o;
                                                    t.p.zeros(f32, {o.m});
                                                  },
                                                  kTwoPrograms},
                                           Misuse{"variable",
                                                  [](Text& t) {
                                                    Other o;
                                                    Var x = t.p.zeros(f32, {});
                                                    x = reduce_sum(o.x(o.m), o.m);
                                                  },
                                                  kTwoPrograms},
                                           Misuse{"store",
                                                  [](Text& t) {
                                                    Other o;
                                                    t.sums(t.m) = o.x(o.m);
                                                  },
                                                  kTwoPrograms},
                                           Misuse{"loop",
                                                  [](Text& t) {
                                                    Other o;
                                                    t.p.pipelined(t.K, 8, 0, o.M);
                                                  },
                                                  kTwoPrograms}),
                         name_of_case);

}  // namespace
}  // namespace tessera::dsl
