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
