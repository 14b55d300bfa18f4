#include <cmath>
#include <gtest/gtest.h>

#include "tile_core/interpreter/buffer.h"
#include "tile_core/interpreter/interpreter.h"
#include "tile_core/ir/parse.h"
#include "tile_core/ir/verify.h"

namespace tessera {
namespace {

using Values = std::vector<double>;

/// The output, at first nines, of a program whose grid has a block for every element.
Values run(const std::string& launch, const std::string& body, std::int64_t elements,
           const InterpretOptions& options = {}) {
  Program p = parse("program p stage roled warps 1" + launch +
                    " {\n  dim N\n  axis n:1 grid N\n  out y: f32(N)\n  grid n\n  %0: i64 = block_index\n  "
                    "%1: i64 = block_count\n  %2: i64 = size N\n" +
                    body + "}\n");
  verify(p);
  Buffer y(f32, {elements});
  y.set(Values(static_cast<std::size_t>(elements), 9));
  interpret(p, {y.view()}, {}, options);
  return y.get();
}

TEST(Control, APersistentProgramHasFewerBlocksThanTiles) {
  const char* body =
      "  %3: f32 = cast %1\n  sequential * from %0 until %2 step %1 start %4 {\n    store y(%4), %3\n  }\n";
  EXPECT_EQ(run("", body, 5), Values(5, 5));
  EXPECT_EQ(run(" persistent", body, 5), Values(5, 2));
  EXPECT_EQ(run(" persistent", body, 5, {.blocks = 3}), Values(5, 3));
  EXPECT_EQ(run(" persistent", body, 1), Values(1, 1));
}

TEST(Control, TicketsCountFromTheFirst) {
  EXPECT_EQ(
      run("",
          "  %3: i64 = constant 7\n  %4: i64 = constant 2\n  sequential * from %0 until %2 step %4 start "
          "%5 ticket %6 after %3 {\n    %7: f32 = cast %6\n    store y(%5), %7\n  }\n",
          1),
      Values{7});
  EXPECT_EQ(
      run(" persistent",
          "  %3: i64 = constant 7\n  %4: i64 = constant 2\n  sequential * from %0 until %2 step %4 start "
          "%5 ticket %6 after %3 {\n    %7: f32 = cast %6\n    store y(%5), %7\n  }\n",
          5, {.blocks = 1}),
      (Values{7, 9, 8, 9, 9}));
}

TEST(Control, ABranchRunsOneOfItsBlocks) {
  const char* body =
      "  %3: i64 = constant 1\n  %4: boolean = lt %0, %3\n  if %4 {\n    %5: f32 = constant 3\n    yield %5\n"
      "  } else {\n    %6: f32 = constant 4\n    yield %6\n  } results %7\n  if %4 {\n    store y(%0), %7\n"
      "  }\n  %8: i64 = constant 2\n  %9: boolean = le %8, %0\n  if %9 {\n    store y(%0), %7\n  }\n";
  EXPECT_EQ(run("", body, 3), (Values{3, 9, 4}));
}

TEST(Control, AnUndefinedTileIsNaN) {
  EXPECT_TRUE(std::isnan(run("", "  %3: f32 = undefined\n  store y(%0), %3\n", 1)[0]));
}

TEST(Control, ASliceIsPartOfATile) {
  Program p = parse(R"(program p stage laid_out warps 1 {
  dim N
  axis n:8 all N
  axis s:2 part N
  in x: f32(N)
  out y: f32(N)
  %0: i64 = constant 0
  %1: f32[n:8] registers<reg n:8x1, lane *:32x0> = load x(n at %0)
  %2: f32[s:2] registers<reg s:2x1, lane *:32x0> = slice %1 n/s at 3
  store y(s at %0), %2
}
)");
  verify(p);
  Buffer x(f32, {8});
  Buffer y(f32, {8});
  x.set({1, 2, 3, 4, 5, 6, 7, 8});
  interpret(p, {x.view(), y.view()}, {});
  EXPECT_EQ(y.get(), (Values{7, 8, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace tessera
