#include <gtest/gtest.h>

#include "tile_core/interpreter/buffer.h"
#include "tile_core/interpreter/interpreter.h"
#include "tile_core/ir/parse.h"
#include "tile_core/ir/verify.h"

namespace tessera {
namespace {

using Values = std::vector<double>;

constexpr const char* kHeader =
    "  dim M\n  dim N\n  axis m:2 grid M\n  axis n:8 all N\n  in a: f32(M, N)\n  out c: f32(M, N)\n  grid "
    "m\n";

Values run(const std::string& stage, const std::string& body, Buffer a, Buffer c) {
  Program p = parse("program p stage " + stage + " {\n" + kHeader + body + "}\n");
  verify(p);
  interpret(p, {a.view(), c.view()}, {});
  return c.get();
}

/// 3 x 5 elements, 10 * row + column, in memory as the strides say.
Buffer matrix(std::vector<std::int64_t> strides = {5, 1}) {
  Buffer buffer(f32, {3, 5}, std::move(strides));
  Values values;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 5; ++column) values.push_back(10 * row + column);
  }
  buffer.set(values);
  return buffer;
}

Buffer nines() {
  Buffer buffer(f32, {3, 5});
  buffer.set(Values(15, 9));
  return buffer;
}

TEST(Memory, StoresOutsideAreDropped) {
  // a tile has 2 x 8 lanes, the tensor 3 x 5 elements
  EXPECT_EQ(run("tile", "  %0: f32[m:2, n:8] = load a(m, n)\n  store c(m, n), %0\n", matrix(), nines()),
            (Values{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24}));
}

TEST(Memory, StridesMayBeAny) {
  const char* copy = "  %0: f32[m:2, n:8] = load a(m, n)\n  store c(m, n), %0\n";
  Values expected = run("tile", copy, matrix(), nines());
  EXPECT_EQ(run("tile", copy, matrix({1, 3}), nines()), expected);
  Buffer row(f32, {3, 5}, {0, 1});
  row.set({1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5});
  EXPECT_EQ(run("tile", copy, row, nines()), (Values{1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}));
}

TEST(Memory, LoadsOutsideAreZero) {
  const char* shifted =
      "  %0: i64 = constant -1\n  %1: i64 = constant 3\n  %2: f32[m:2, n:8] = load a(m at %0, n at %1)\n"
      "  %3: i64 = constant 0\n  store c(m at %3, n at %3), %2\n";
  EXPECT_EQ(run("mapped", shifted, matrix(), nines()), (Values{0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 9, 9, 9, 9, 9}));
}

TEST(Memory, ScalarSubscriptsReachOneElement) {
  const char* column =
      "  %0: i64 = constant 4\n  %1: f32[m:2] = load a(m, %0)\n  %2: i64 = constant 1\n  store c(m, %2), "
      "%1\n";
  EXPECT_EQ(run("tile", column, matrix(), nines()), (Values{9, 4, 9, 9, 9, 9, 14, 9, 9, 9, 9, 24, 9, 9, 9}));
  const char* outside =
      "  %0: i64 = constant 5\n  %1: f32[m:2] = load a(m, %0)\n  %2: i64 = constant 0\n  store c(m, %2), %1\n"
      "  store c(m, %0), %1\n";
  EXPECT_EQ(run("tile", outside, matrix(), nines()), (Values{0, 9, 9, 9, 9, 0, 9, 9, 9, 9, 0, 9, 9, 9, 9}));
}

}  // namespace
}  // namespace tessera
