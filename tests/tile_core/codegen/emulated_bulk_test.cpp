#include <cstring>
#include <gtest/gtest.h>

#include "tests/tile_core/codegen/emulated_kernel.h"

namespace tessera {
namespace {

// Boxes of 16 rows of x[20, 40] and y[20, 40], as wide as the swizzle of their map; the raw bytes of shared
// memory go to `seen`.
const char* const kBody = R"(
struct Parameters {
  TensorMap in[3];   // swizzles of 32, 64, 128 bytes
  TensorMap out[3];
  bf16* data_seen;
  int64 scalar_what;
  int64 scalar_which;
  int64 scalar_row;
  int64 scalar_column;
};
TESSERA_KERNEL(boxes, 64, 1) {
  const int thread = thread_index();
  TESSERA_SHARED(shared);
  bf16* const slot = reinterpret_cast<bf16*>(shared);
  const unsigned at = shared_address(shared), full = at + 4096;
  const int64 what = p.scalar_what;
  const int x = static_cast<int>(p.scalar_column), y = static_cast<int>(p.scalar_row), count = 256 << p.scalar_which;
  bf16 one[1] = {bf16{0x3f80}};
#line 1 "boxes"
  if (thread == 0) { mbarrier_init(full, 1); if (what != 4) fence_mbarriers(); }
  barrier();
  if (what <= 5 && thread == 0) copy_bulk(at + (what == 5 ? 64 : 0), &p.in[p.scalar_which], full, x, y);
  if ((what <= 1 || what == 3) && thread == 0) mbarrier_arrive_expect(full, 2 * count - 32 * (what == 1));
  if (what <= 1) { mbarrier_wait(full, 0); for (int i = thread; i < count; i += 64) { read_shared<1>(one, slot + i); store_global<1>(p.data_seen + i, one, true); } }
  if (what == 2 && thread == 0) { mbarrier_arrive_expect(full, 2 * count); read_shared<1>(one, slot); }
  if (what >= 6) {
    for (int i = thread; i < count; i += 64) { load_global<1>(one, p.data_seen + i, true); write_shared<1>(slot + i, one); }
    if (what != 7) fence_shared();
    barrier();
    if (thread == 0) { copy_out(&p.out[p.scalar_which], at, x, y); if (what != 8) commit_stores(); if (what != 9) wait_stores<0>(); }
    if (what != 10) barrier();
    if (what >= 9) write_shared<1>(slot + thread, one);
  }
  if (what == 11 && thread == 0) { mbarrier_arrive_expect(full, 2 * count); copy_bulk(at, &p.in[p.scalar_which], full, x, y); mbarrier_wait(full, 0); }
}
)";

constexpr int kRows = 20;
constexpr int kColumns = 40;

class EmulatedBulk : public ::testing::Test {
 protected:
  EmulatedBulk() {
    for (int i = 0; i < kRows * kColumns; ++i) x_[i] = static_cast<std::uint16_t>(1000 + i);
    for (int i = 0; i < 16 * 64; ++i) seen_[i] = static_cast<std::uint16_t>(i);
    for (std::uint16_t& y : y_) y = 7;
    TensorView matrix{.dtype = bf16, .rank = 2, .sizes = {kRows, kColumns}, .strides = {kColumns, 1}};
    views_ = {matrix, matrix, {.data = seen_, .dtype = bf16, .rank = 1, .sizes = {16 * 64}, .strides = {1}}};
    views_[0].data = x_, views_[1].data = y_;
    for (int tensor : {0, 1}) {
      for (int swizzle : {32, 64, 128})
        kernel_.maps.push_back(
            {.tensor = tensor, .contiguous = 1, .box = {16, swizzle / 2}, .swizzle = swizzle});
    }
  }

  std::string run(int what, int which, int row, int column, Landing landing = Landing::last) {
    std::vector<double> scalars = {double(what), double(which), double(row), double(column)};
    return test::complaint(kernel_, views_, scalars, landing);
  }
  std::string run(int what) { return run(what, 0, 0, 0); }

  /// Where row r and column c of a box stands, in elements (PTX ISA, "Swizzling Modes": the figures of 128,
  /// 64 and 32 bytes).
  static int place(int which, int r, int c) {
    int width = 32 << which;
    int chunk = c / 8;
    int with = which == 2 ? r % 8 : which == 1 ? r / 2 % 4 : r / 4 % 2;
    return (r * width + (chunk ^ with) * 16) / 2 + c % 8;
  }

  alignas(16) std::uint16_t x_[kRows * kColumns];
  alignas(16) std::uint16_t y_[kRows * kColumns];
  alignas(16) std::uint16_t seen_[16 * 64];
  std::vector<TensorView> views_;
  KernelText kernel_{.name = "boxes",
                     .text = kBody,
                     .threads = 64,
                     .shared_bytes = 4096 + 8,
                     .parameters = {{Parameter::Kind::pointer, 2},
                                    {Parameter::Kind::scalar_i64, 0},
                                    {Parameter::Kind::scalar_i64, 1},
                                    {Parameter::Kind::scalar_i64, 2},
                                    {Parameter::Kind::scalar_i64, 3}},
                     .grid = {{2, 0, 16 * 64}}};
};

TEST_F(EmulatedBulk, CopiesInSwizzledAndZeroOutside) {
  for (Landing landing : {Landing::last, Landing::first}) {
    for (int which : {0, 1, 2}) {
      for (auto [row, column] : {std::pair(0, 0), {10, 32}, {-3, 8}, {30, 0}}) {
        ASSERT_EQ(run(0, which, row, column, landing), "right");
        for (int r = 0; r < 16; ++r) {
          for (int c = 0; c < 16 << which; ++c) {
            int i = row + r;
            int j = column + c;
            bool inside = i >= 0 && i < kRows && j >= 0 && j < kColumns;
            ASSERT_EQ(seen_[place(which, r, c)], inside ? x_[i * kColumns + j] : 0)
                << which << " " << r << " " << c;
          }
        }
      }
    }
  }
}

TEST_F(EmulatedBulk, CopiesOutAndDropsWhatIsOutside) {
  for (Landing landing : {Landing::last, Landing::first}) {
    for (int which : {0, 1, 2}) {
      for (auto [row, column] : {std::pair(0, 0), {10, 32}}) {
        for (std::uint16_t& y : y_) y = 7;
        ASSERT_EQ(run(6, which, row, column, landing), "right");
        for (int i = 0; i < kRows; ++i) {
          for (int j = 0; j < kColumns; ++j) {
            int r = i - row;
            int c = j - column;
            bool inside = r >= 0 && r < 16 && c >= 0 && c < 16 << which;
            ASSERT_EQ(y_[i * kColumns + j], inside ? seen_[place(which, r, c)] : 7);
          }
        }
      }
    }
  }
}

TEST_F(EmulatedBulk, FindsCopiesInThatNobodyWaitsFor) {
  EXPECT_EQ(run(1), "block 0: deadlock: 0 of 64 threads have ended, 64 wait for an mbarrier at line 5");
  EXPECT_EQ(run(2),
            "thread 0 of block 0 reads byte 0 of shared memory, to which a copy by the copy engine is "
            "unfinished   --> "
            "boxes:6");
  EXPECT_EQ(
      run(2, 0, 0, 0, Landing::first),
      "thread 0 of block 0 reads byte 0 of shared memory, which the copy engine has written, with no barrier "
      "between   --> boxes:6");
  EXPECT_EQ(run(3), "block 0 ends before copies have landed that the mbarrier at byte 4096 counts");
}

TEST_F(EmulatedBulk, FindsWhatTheCopyEngineCannotDo) {
  EXPECT_EQ(
      run(4),
      "thread 0 of block 0 has copies counted by an mbarrier that no fence has made known   --> boxes:3");
  EXPECT_EQ(run(5),
            "thread 0 of block 0 copies a box at 1088 of shared memory, which is not a multiple of 128   --> "
            "boxes:3");
}

TEST_F(EmulatedBulk, FindsCopiesOutThatAreNotOrdered) {
  EXPECT_EQ(run(7),
            "thread 0 of block 0 has the async proxy read byte 0 of shared memory, which thread 0 has "
            "written, with no fence between   --> boxes:11");
  EXPECT_EQ(run(8), "thread 0 of block 0 ends with copies out that no wait covers   --> :0");
  EXPECT_EQ(
      run(9),
      "thread 61 of block 0 writes byte 122 of shared memory, which a copy out of warp 0 has read, with "
      "no barrier between   --> boxes:13");
  EXPECT_EQ(run(10),
            "thread 0 of block 0 reads byte 124 of shared memory, which thread 62 has written, with no "
            "barrier between   --> boxes:11");
  EXPECT_EQ(run(11),
            "thread 0 of block 0 writes byte 122 of shared memory, which thread 61 has written, with no "
            "barrier between   --> boxes:15");
}

}  // namespace
}  // namespace tessera
