#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "tests/support/programs.h"
#include "tile_core/base/error.h"
#include "tile_core/interpreter/buffer.h"
#include "tile_core/interpreter/interpreter.h"
#include "tile_core/ir/verify.h"

namespace tessera {
namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

/// Applies an operation, written of %0 and %1, to two tensors elementwise.
Values apply(const std::string& operation, DType operand, DType result, const Values& a, const Values& b) {
  Program p = parse(
      fmt::format("program p stage tile {{\n  dim M\n  axis m:4 grid M\n  in a: {0}(M)\n  in b: {0}(M)\n"
                  "  out c: {1}(M)\n  grid m\n  %0: {0}[m:4] = load a(m)\n  %1: {0}[m:4] = load b(m)\n"
                  "  %2: {1}[m:4] = {2}\n  store c(m), %2\n}}\n",
                  name_of(operand), name_of(result), operation));
  verify(p);
  auto size = static_cast<std::int64_t>(a.size());
  Buffer x(operand, {size});
  Buffer y(operand, {size});
  Buffer z(result, {size});
  x.set(a);
  y.set(b);
  interpret(p, {x.view(), y.view(), z.view()}, {});
  return z.get();
}

struct Case {
  const char* operation;
  DType operand;
  DType result;
  Values a;
  Values b;
  Values expected;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.operation << " of " << name_of(c.operand);
}

class Elementwise : public ::testing::TestWithParam<Case> {};

TEST_P(Elementwise, Means) {
  const Case& c = GetParam();
  Values actual = apply(c.operation, c.operand, c.result, c.a, c.b);
  ASSERT_EQ(actual.size(), c.expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(same(actual[i], c.expected[i]))
        << "element " << i << " is " << actual[i] << ", not " << c.expected[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, Elementwise,
    ::testing::Values(
        Case{"add %0, %1", f32, f32, {1, 0x1p24, kInfinity}, {0x1p-24, 1, -kInfinity}, {1, 0x1p24, kNaN}},
        Case{"add %0, %1", bf16, bf16, {1, 256}, {0x1p-7, 1}, {1 + 0x1p-7, 256}},
        Case{"fma %0, %0, %1",
             f32,
             f32,
             {1 + 0x1p-12, kInfinity},
             {-1 - 0x1p-11, -kInfinity},
             {0x1p-24, kNaN}},
        Case{"fast_tanh %0", f32, f32, {0, -kInfinity, 100}, {0, 0, 0}, {0, -1, 1}},
        Case{"div %0, %1", f32, f32, {1, -1, 0}, {0, 0, 0}, {kInfinity, -kInfinity, kNaN}},
        Case{"div %0, %1", i64, i64, {7, -7, 7, -7, -8, 5}, {2, 2, -2, -2, 2, 0}, {3, -4, -4, 3, -4, 0}},
        Case{"mod %0, %1", i64, i64, {7, -7, 7, -7, -8, 5}, {2, 2, -2, -2, 2, 0}, {1, 1, -1, -1, 0, 0}},
        Case{"mod %0, %1", i64, i64, {-0x1p63, -3}, {-1, -1}, {0, 0}},
        Case{"add %0, %1", i32, i32, {0x1p31 - 2, -0x1p31}, {1, 0}, {0x1p31 - 1, -0x1p31}},
        Case{"mul %0, %1", i64, i64, {0x1p31, 3, -1}, {-0x1p31, 0x1p51, -0x1p62}, {-0x1p62, 0x3p51, 0x1p62}},
        Case{"max %0, %1",
             f32,
             f32,
             {kNaN, 1, kNaN, -0.0, 0.0},
             {2, kNaN, kNaN, 0.0, -0.0},
             {2, 1, kNaN, 0.0, 0.0}},
        Case{"min %0, %1",
             f32,
             f32,
             {kNaN, 1, kNaN, -0.0, 0.0},
             {2, kNaN, kNaN, 0.0, -0.0},
             {2, 1, kNaN, -0.0, -0.0}},
        Case{"lt %0, %1", f32, boolean, {1, 2, kNaN, 1}, {2, 1, 1, 1}, {1, 0, 0, 0}},
        Case{"le %0, %1", f32, boolean, {1, 2, kNaN, 1}, {2, 1, 1, 1}, {1, 0, 0, 1}},
        Case{"eq %0, %1", f32, boolean, {1, 2, kNaN, 0.0}, {2, 2, kNaN, -0.0}, {0, 1, 0, 1}},
        Case{"ne %0, %1", f32, boolean, {1, 2, kNaN, 0.0}, {2, 2, kNaN, -0.0}, {1, 0, 1, 0}},
        Case{"logical_and %0, %1", boolean, boolean, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 1}},
        Case{"logical_or %0, %1", boolean, boolean, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}},
        Case{"logical_not %0", boolean, boolean, {0, 1}, {0, 0}, {1, 0}},
        Case{"neg %0", f32, f32, {0.0, -1}, {0, 0}, {-0.0, 1}},
        Case{"abs %0", i64, i64, {-3, 3}, {0, 0}, {3, 3}},
        Case{"neg %0", i64, i64, {-3, 3, 0}, {0, 0, 0}, {3, -3, 0}},
        Case{"max %0, %1", i64, i64, {-0x1p63, 0x1p63}, {3, 3}, {3, 0x1p63}},
        Case{"min %0, %1", i64, i64, {-0x1p63, 0x1p63}, {3, 3}, {-0x1p63, 3}},
        Case{"exp %0", f32, f32, {0, -kInfinity, kInfinity, 100}, {0, 0, 0, 0}, {1, 0, kInfinity, kInfinity}},
        Case{"exp2 %0", f32, f32, {3, -149, -kInfinity}, {0, 0, 0}, {8, 0x1p-149, 0}},
        Case{"log %0", f32, f32, {1, 0, -1}, {0, 0, 0}, {0, -kInfinity, kNaN}},
        Case{"log2 %0", f32, f32, {8, 0.5}, {0, 0}, {3, -1}},
        Case{"sqrt %0", f32, f32, {4, 2}, {0, 0}, {2, std::sqrt(2.0F)}},
        Case{"rsqrt %0", f32, f32, {4, 0}, {0, 0}, {0.5, kInfinity}},
        Case{"tanh %0", f32, f32, {0, 50, -50}, {0, 0, 0}, {0, 1, -1}},
        Case{"erf %0", f32, f32, {0, 9}, {0, 0}, {0, 1}}, Case{"erfc %0", f32, f32, {0, -9}, {0, 0}, {1, 2}},
        Case{"cast %0", f32, i64, {1.9, -1.9}, {0, 0}, {1, -1}},
        Case{"cast %0", f32, f16, {65520, 1.0 / 3}, {0, 0}, {kInfinity, 0x1.554p-2}},
        Case{"cast %0", f32, boolean, {0, 0.5, kNaN}, {0, 0, 0}, {0, 1, 1}}));

struct Unknown {
  const char* operation;
  DType operand;
  DType result;
  double a;
  double b;
};
void PrintTo(const Unknown& u, std::ostream* out) {
  *out << u.operation << " of " << u.a << " and " << u.b;
}

/// An integer that its dtype or a double cannot hold is what nobody knows: it is not stored.
class IntegersOf : public ::testing::TestWithParam<Unknown> {};

TEST_P(IntegersOf, ThatCannotBeHeldAreNotStored) {
  const Unknown& u = GetParam();
  try {
    apply(u.operation, u.operand, u.result, {u.a}, {u.b});
    ADD_FAILURE() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        fmt::format("program p: 'c' is given an integer that is more than {}, or the 53 bits of a double, "
                    "can hold",
                    name_of(u.result)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, IntegersOf,
    ::testing::Values(
        Unknown{"add %0, %1", i32, i32, 0x1p31 - 1, 1}, Unknown{"sub %0, %1", i32, i32, -0x1p31, 1},
        Unknown{"mul %0, %1", i32, i32, 0x1p16, 0x1p15}, Unknown{"neg %0", i32, i32, -0x1p31, 0},
        Unknown{"abs %0", i32, i32, -0x1p31, 0}, Unknown{"div %0, %1", i32, i32, -0x1p31, -1},
        Unknown{"add %0, %1", i64, i64, 0x1p53, 1}, Unknown{"sub %0, %1", i64, i64, -0x1p63, 1},
        Unknown{"mul %0, %1", i64, i64, 0x1p32, 0x1p32}, Unknown{"div %0, %1", i64, i64, 0x1p62, 3},
        Unknown{"div %0, %1", i64, i64, -0x1p63, -1}, Unknown{"cast %0", i64, i32, 0x1p31, 0},
        Unknown{"cast %0", f32, i32, 3e9, 0}, Unknown{"cast %0", f32, i64, kInfinity, 0},
        Unknown{"cast %0", f32, i64, kNaN, 0}, Unknown{"cast %0", f32, i64, 0x1p63, 0},
        Unknown{"neg %0", i64, i64, -0x1p63, 0}, Unknown{"neg %0", i64, i64, 0x1p63, 0},
        Unknown{"sub %0, %1", i64, i64, 0x1p63, 1}, Unknown{"add %0, %1", i64, i64, 0x1p63, 1}));

/// Of the inputs 3 and 2^40, what `body` makes of them, %0, and of their squares, %1, the second of which
/// nobody knows; %2 is stored.
Values of_squares(const std::string& body, DType result) {
  Program p = parse(fmt::format(
      "program p stage tile {{\n  dim M\n  axis m:4 grid M\n  in a: i64(M)\n  out c: {}(M)\n  grid m\n"
      "  %0: i64[m:4] = load a(m)\n  %1: i64[m:4] = mul %0, %0\n  %9: i64 = constant 100\n"
      "  %8: boolean[m:4] = lt %0, %9\n{}  store c(m), %2\n}}\n",
      name_of(result), body));
  verify(p);
  Buffer a(i64, {2});
  Buffer c(result, {2});
  a.set({3, 0x1p40});
  interpret(p, {a.view(), c.view()}, {});
  return c.get();
}

TEST(Integers, ThatNobodyKnowsMayBeSelectedAway) {
  EXPECT_EQ(of_squares("  %2: i64[m:4] = select %8, %1, %0\n", i64), (Values{9, 0x1p40}));
  EXPECT_EQ(of_squares("  %3: boolean[m:4] = lt %1, %9\n  %2: boolean[m:4] = logical_and %3, %8\n", boolean),
            (Values{1, 0}));
  EXPECT_EQ(of_squares("  %3: boolean[m:4] = lt %1, %9\n  %4: boolean[m:4] = lt %9, %0\n"
                       "  %2: boolean[m:4] = logical_or %3, %4\n",
                       boolean),
            (Values{1, 1}));
}

TEST(Integers, ThatNobodyKnowsMakeOthersUnknown) {
  for (const char* operation : {"div %1, %1", "max %0, %1", "min %9, %1", "neg %1"})
    EXPECT_THROW(of_squares(fmt::format("  %2: i64[m:4] = {}\n", operation), i64), UserError) << operation;
  for (const char* operation : {"lt %0, %1", "ne %1, %1", "cast %1"})
    EXPECT_THROW(of_squares(fmt::format("  %2: boolean[m:4] = {}\n", operation), boolean), UserError)
        << operation;
  EXPECT_THROW(of_squares("  %3: boolean[m:4] = lt %0, %1\n  %2: i64[m:4] = select %3, %0, %9\n", i64),
               UserError);
  EXPECT_THROW(of_squares("  %3: boolean[m:4] = lt %0, %1\n  %2: boolean[m:4] = logical_not %3\n", boolean),
               UserError);
  for (const char* reduction : {"sum", "max", "min"})
    EXPECT_THROW(of_squares(fmt::format("  %2: i64 = reduce_{}<m> %1\n", reduction), i64), UserError)
        << reduction;
}

TEST(Integers, ThatNobodyKnowsAreNoIndices) {
  try {
    of_squares(
        "  %3: i64 = mul %9, %9\n  %4: i64 = mul %3, %3\n  %5: i64 = mul %4, %4\n  %6: i64 = mul %5, %5\n  "
        "%2: i64 = load a(%6)\n",
        i64);
    ADD_FAILURE() << "no error";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "program p: an index or a bound is more than its dtype, or the 53 bits of a double, can hold");
  }
}

/// Runs a program on an input [2, 3] of 1 to 6, an input [3] of 10, 20, 30 and an output of the given sizes.
Values run(const std::string& body, DType dtype, std::vector<std::int64_t> sizes, const std::string& dims) {
  Program p = parse(
      "program p stage tile {\n  dim M\n  dim N\n  axis m:2 grid M\n  axis n:4 all N\n  in a: f32(M, N)\n"
      "  in b: f32(N)\n  out c: " +
      std::string(name_of(dtype)) + dims +
      "\n  grid m\n  %0: f32[m:2, n:4] = load a(m, n)\n"
      "  %1: f32[n:4] = load b(n)\n" +
      body + "}\n");
  verify(p);
  Buffer a(f32, {2, 3});
  Buffer b(f32, {3});
  Buffer c(dtype, std::move(sizes));
  a.set({1, 2, 3, 4, 5, 6});
  b.set({10, 20, 30});
  interpret(p, {a.view(), b.view(), c.view()}, {});
  return c.get();
}

TEST(Evaluate, OperandsAlignByAxis) {
  EXPECT_EQ(run("  %2: f32[n:4, m:2] = add %0, %1\n  store c(m, n), %2\n", f32, {2, 3}, "(M, N)"),
            (Values{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ(run("  %2: f32[n:4, m:2] = broadcast %0\n  store c(n, m), %2\n", f32, {3, 2}, "(N, M)"),
            (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run("  %2: f32 = constant 7\n  store c(m, n), %2\n", f32, {2, 3}, "(M, N)"), Values(6, 7));
}

TEST(Evaluate, SelectsByAxis) {
  EXPECT_EQ(
      run("  %2: f32 = constant 15\n  %3: boolean[n:4] = lt %1, %2\n  %4: f32[m:2, n:4] = select %3, %0, %1\n"
          "  store c(m, n), %4\n",
          f32, {2, 3}, "(M, N)"),
      (Values{1, 20, 30, 4, 20, 30}));
}

TEST(Evaluate, IndicesCountFromTheStart) {
  EXPECT_EQ(run("  %2: i64[n:4] = index n\n  %3: i64[m:2] = index m\n  %4: i64[m:2, n:4] = add %2, %3\n  "
                "store c(m, n), %4\n",
                i64, {2, 3}, "(M, N)"),
            (Values{0, 1, 2, 1, 2, 3}));
}

TEST(Evaluate, ReductionsSeeValidLanesOnly) {
  std::string shifted =
      "  %2: f32 = constant -10\n  %3: f32[m:2, n:4] = add %0, %2\n";  // the invalid lane holds -10
  EXPECT_EQ(run(shifted + "  %4: f32[m:2] = reduce_sum<n> %3\n  store c(m), %4\n", f32, {2}, "(M)"),
            (Values{-24, -15}));
  EXPECT_EQ(run(shifted + "  %4: f32[m:2] = reduce_max<n> %3\n  store c(m), %4\n", f32, {2}, "(M)"),
            (Values{-7, -4}));
  EXPECT_EQ(run(shifted + "  %4: f32[m:2] = reduce_min<n> %3\n  store c(m), %4\n", f32, {2}, "(M)"),
            (Values{-9, -6}));
  std::string infinite =
      "  %2: f32 = constant inf\n  %3: f32[n:4] = mul %1, %2\n";  // 0 * inf in the invalid lane
  EXPECT_EQ(run(infinite + "  %4: f32[m:2] = dot<n> %0, %3\n  store c(m), %4\n", f32, {2}, "(M)"),
            Values(2, kInfinity));
}

TEST(Evaluate, DotsAlignByAxisAndStartFromTheAccumulator) {
  EXPECT_EQ(run("  %2: f32[m:2] = dot<n> %0, %1\n  store c(m), %2\n", f32, {2}, "(M)"), (Values{140, 320}));
  EXPECT_EQ(run("  %2: f32[m:2] = dot<n> %0, %1\n  %3: f32[m:2] = dot<n> %1, %0 onto %2\n  store c(m), %3\n",
                f32, {2}, "(M)"),
            (Values{280, 640}));
  // the axis m, which both have, is not contracted
  EXPECT_EQ(run("  %2: f32[m:2] = dot<n> %0, %0\n  store c(m), %2\n", f32, {2}, "(M)"), (Values{14, 77}));
}

TEST(Evaluate, DotsUseFusedMultiplyAdd) {
  Program p = parse(
      "program p stage tile {\n  dim K\n  axis k:2 all K\n  in a: f32(K)\n  in b: f32(K)\n  out c: f32()\n"
      "  %0: f32[k:2] = load a(k)\n  %1: f32[k:2] = load b(k)\n  %2: f32 = dot<k> %0, %1\n  store c(), "
      "%2\n}\n");
  verify(p);
  Buffer a(f32, {2});
  Buffer b(f32, {2});
  Buffer c(f32, {});
  a.set({1 + 0x1p-12, -1});
  b.set({1 + 0x1p-12, 1 + 0x1p-11});
  interpret(p, {a.view(), b.view(), c.view()}, {});
  EXPECT_EQ(c.get(), Values{0});  // the first product is rounded to f32: there is no sum yet to fuse it with
  a.set({-1, 1 + 0x1p-12});
  b.set({1 + 0x1p-11, 1 + 0x1p-12});
  interpret(p, {a.view(), b.view(), c.view()}, {});
  EXPECT_EQ(c.get(), Values{0x1p-24});
}

}  // namespace
}  // namespace tessera
