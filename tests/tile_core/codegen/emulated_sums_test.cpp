#include <gtest/gtest.h>

#include "tests/tile_core/codegen/emulated_kernel.h"

namespace tessera {
namespace {

// Additions to y[20, 40] of f32: of a box of 8 rows of 8 columns, all 1 + their number in it, and by threads.
const char* const kBody = R"(
struct Parameters {
  TensorMap out;
  float* data_y;
  int64 scalar_what;
  int64 scalar_row;
  int64 scalar_column;
};
TESSERA_KERNEL(sums, 64, 1) {
  const int thread = thread_index();
  TESSERA_SHARED(shared);
  float* const slot = reinterpret_cast<float*>(shared);
  const int64 what = p.scalar_what;
  const int x = static_cast<int>(p.scalar_column), y = static_cast<int>(p.scalar_row);
  const float own = static_cast<float>(1 + thread);
  const float four[4] = {own, 0.5f, 0.25f, own};
#line 1 "sums"
  if (what == 0) { write_shared<1>(slot + swizzled<32>(thread * 4) / 4, &own); fence_shared(); }
  if (what == 0) barrier();
  if (what == 0 && thread == 0) { accumulate_out(&p.out, shared_address(shared), x, y); commit_stores(); wait_stores<0>(); }
  if (what == 1) accumulate_global<1>(p.data_y + thread % 8, &own, thread < 40);
  if (what == 2) accumulate_global<4>(p.data_y + 4 * (thread % 8), four, true);
  if (what == 3) accumulate_global<1>(p.data_y + 800, &own, thread > 0);
  if (what == 4) accumulate_global<4>(p.data_y + 2, four, thread > 0);
}
)";

constexpr int kRows = 20;
constexpr int kColumns = 40;

class EmulatedSums : public ::testing::Test {
 protected:
  std::string run(int what, int row = 0, int column = 0, Landing landing = Landing::last) {
    std::fill(std::begin(y_), std::end(y_), 100.0F);
    const TensorView y{
        .data = y_, .dtype = f32, .rank = 2, .sizes = {kRows, kColumns}, .strides = {kColumns, 1}};
    const KernelText kernel{.name = "sums",
                            .text = kBody,
                            .threads = 64,
                            .shared_bytes = 512,
                            .parameters = {{Parameter::Kind::pointer, 0},
                                           {Parameter::Kind::scalar_i64, 0},
                                           {Parameter::Kind::scalar_i64, 1},
                                           {Parameter::Kind::scalar_i64, 2}},
                            .grid = {{0, 0, kRows}},
                            .maps = {{.tensor = 0, .contiguous = 1, .box = {8, 8}, .swizzle = 32}},
                            .zeroed = zeroed_};
    return test::complaint(kernel, {y}, {double(what), double(row), double(column)}, landing);
  }

  alignas(16) float y_[kRows * kColumns];
  std::vector<int> zeroed_;
};

TEST_F(EmulatedSums, BoxesAreAddedAndDroppedOutside) {
  for (const bool zeroed : {false, true}) {
    if (zeroed) zeroed_ = {0};
    for (Landing landing : {Landing::last, Landing::first}) {
      for (auto [row, column] : {std::pair(0, 0), {3, 16}, {15, 36}, {-2, 8}}) {
        ASSERT_EQ(run(0, row, column, landing), "right");
        for (int i = 0; i < kRows; ++i) {
          for (int j = 0; j < kColumns; ++j) {
            const int r = i - row, c = j - column;
            const bool inside = r >= 0 && r < 8 && c >= 0 && c < 8;
            ASSERT_EQ(y_[i * kColumns + j], (zeroed ? 0 : 100) + (inside ? 1 + 8 * r + c : 0))
                << i << " " << j;
          }
        }
      }
    }
  }
}

TEST_F(EmulatedSums, ThreadsAddToOnePlace) {
  ASSERT_EQ(run(1), "right");
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(y_[i], i < 8 ? 100 + 5 * (1 + i) + 8 * (0 + 1 + 2 + 3 + 4) : 100) << i;
  ASSERT_EQ(run(2), "right");
  EXPECT_EQ(y_[1], 100 + 8 * 0.5);
  EXPECT_EQ(y_[2], 100 + 8 * 0.25);
  EXPECT_EQ(y_[4], y_[0] + 8);
}

TEST_F(EmulatedSums, FindsWrongAddresses) {
  EXPECT_EQ(run(3),
            "thread 1 of block 0 adds to 4 bytes at AT, which is outside of every tensor   --> sums:6");
  EXPECT_EQ(run(4), "thread 1 of block 0 adds to 16 bytes at AT, which is not a multiple of 16   --> sums:7");
}

}  // namespace
}  // namespace tessera
