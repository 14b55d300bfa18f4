#include <gtest/gtest.h>
#include <regex>

#include "tests/support/emulate.h"
#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"

namespace tessera {
namespace {

/// Two warps; what each thread does is chosen by a number of the call.
const char* const kBody = R"(
struct Parameters {
  const float* data_x;
  float* data_y;
  int64 scalar_what;
};
TESSERA_KERNEL(choice, 64, 1) {
  const int thread = thread_index();
  TESSERA_SHARED(shared);
  float* const slots = reinterpret_cast<float*>(shared);
  float one[1] = {1}, four[4];
#line 1 "choice"
  if (p.scalar_what == 0) { write_shared<1>(slots + thread, one); barrier(); read_shared<1>(one, slots + 63 - thread); }
  if (p.scalar_what == 1) { write_shared<1>(slots + thread, one); read_shared<1>(one, slots + 63 - thread); }
  if (p.scalar_what == 2) { write_shared<1>(slots + thread, one); barrier(); read_shared<1>(one, slots + 63 - thread); write_shared<1>(slots + thread, one); }
  if (p.scalar_what == 3) { write_shared<1>(slots, one); }
  if (p.scalar_what == 4) { read_shared<1>(one, slots + thread); }
  if (p.scalar_what == 5) { read_shared<4>(four, slots + 1); }
  if (p.scalar_what == 6) { load_global<4>(four, p.data_x + 1, true); }
  if (p.scalar_what == 7) { load_global<1>(four, p.data_x - 1, true); }
  if (p.scalar_what == 8) { load_global<1>(four, p.data_x + 64, false); }
  if (p.scalar_what == 9) { store_global<1>(p.data_y + 64, one, true); }
  if (p.scalar_what == 10) { if (thread < 32) barrier(); }
  if (p.scalar_what == 11) { if (thread < 32) barrier(); else
    barrier(); }
  if (p.scalar_what == 12) { if (thread != 5) one[0] = shuffle_xor(one[0], 1); }
  if (p.scalar_what == 13) { copy_async<1>(slots + thread, p.data_x + thread, true); commit_copies(); wait_copies<0>(); read_shared<1>(one, slots + thread); }
  if (p.scalar_what == 14) { copy_async<1>(slots + thread, p.data_x + thread, true); commit_copies(); read_shared<1>(one, slots + thread); wait_copies<0>(); }
  if (p.scalar_what == 15) { copy_async<1>(slots + thread, p.data_x + thread, true); commit_copies(); copy_async<1>(slots + 64 + thread, p.data_x + thread, true); commit_copies(); wait_copies<1>(); read_shared<1>(one, slots + 64 + thread); }
  if (p.scalar_what == 16) { copy_async<1>(slots + thread, p.data_x + thread, true); wait_copies<0>(); read_shared<1>(one, slots + thread); }
  if (p.scalar_what == 17) { copy_async<1>(slots + thread, p.data_x + thread, true); commit_copies(); }
  if (p.scalar_what == 18) { copy_async<4>(slots + 4 * thread, p.data_x + 2, false); commit_copies(); wait_copies<0>(); }
  if (p.scalar_what == 19) { write_shared<1>(slots + 256, one); }
  if (p.scalar_what == 20) { float sum[1] = {float(thread)}; for (int mask = 16; mask >= 1; mask /= 2) sum[0] += shuffle_xor(sum[0], mask); store_global<1>(p.data_y + thread, sum, true); }
  if (p.scalar_what == 21) { copy_async<1>(slots + thread, p.data_x + thread, thread < 60); commit_copies(); wait_copies<0>(); barrier(); read_shared<1>(one, slots + 63 - thread); store_global<1>(p.data_y + thread, one, true); }
}
)";

/// Runs one choice on x = 0, 1, ... 63; returns the first complaint, places in memory as AT.
class EmulatedBlock : public ::testing::Test {
 protected:
  std::string run(int what, Landing landing = Landing::last) {
    KernelText kernel{.name = "choice",
                      .text = prelude_text(Prelude::emulated) + kBody,
                      .threads = 64,
                      .shared_bytes = 1024,
                      .parameters = {{Parameter::Kind::pointer, 0},
                                     {Parameter::Kind::pointer, 1},
                                     {Parameter::Kind::scalar_i64, 0}},
                      .grid = {{0, 0, 64}}};
    for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(i);
    TensorView in{.data = x, .dtype = f32, .rank = 1, .sizes = {64}, .strides = {1}};
    TensorView out{.data = y, .dtype = f32, .rank = 1, .sizes = {64}, .strides = {1}};
    try {
      test::emulate(kernel, {in, out}, {static_cast<double>(what)}, landing);
      return "right";
    } catch (const InternalError& error) {
      std::string text = std::regex_replace(error.what(), std::regex("0x[0-9a-f]+"), "AT");
      return std::regex_replace(text, std::regex("internal tessera error: emulation: choice: "), "");
    }
  }

  alignas(16) float x[64] = {};
  alignas(16) float y[64] = {};
};

TEST_F(EmulatedBlock, TakesRightOrders) {
  for (Landing landing : {Landing::last, Landing::first}) {
    for (int what : {0, 8, 13}) EXPECT_EQ(run(what, landing), "right") << what;
  }
}

TEST_F(EmulatedBlock, FindsWhatNoBarrierOrders) {
  EXPECT_EQ(run(1),
            "thread 0 of block 0 reads byte 252 of shared memory, which nothing has written   --> choice:2");
  EXPECT_EQ(run(1, Landing::first),
            "thread 63 of block 0 reads byte 0 of shared memory, which nothing has written   --> choice:2");
  EXPECT_EQ(
      run(2),
      "thread 0 of block 0 reads byte 252 of shared memory, which thread 63 has written, with no barrier "
      "between   --> choice:3");
  EXPECT_EQ(run(3),
            "thread 1 of block 0 writes byte 0 of shared memory, which thread 0 has written, with no barrier "
            "between   --> choice:4");
  EXPECT_EQ(run(4),
            "thread 0 of block 0 reads byte 0 of shared memory, which nothing has written   --> choice:5");
}

TEST_F(EmulatedBlock, FindsWrongAddresses) {
  EXPECT_EQ(run(5), "thread 0 of block 0 reads 16 bytes at AT, which is not a multiple of 16   --> choice:6");
  EXPECT_EQ(run(6), "thread 0 of block 0 reads 16 bytes at AT, which is not a multiple of 16   --> choice:7");
  EXPECT_EQ(run(7),
            "thread 0 of block 0 reads 4 bytes at AT, which is outside of every tensor   --> choice:8");
  EXPECT_EQ(run(9),
            "thread 0 of block 0 writes 4 bytes at AT, which is outside of every tensor   --> choice:10");
  EXPECT_EQ(run(18),
            "thread 0 of block 0 copies 16 bytes at AT, which is not a multiple of 16   --> choice:20");
  EXPECT_EQ(run(19),
            "thread 0 of block 0 writes 4 bytes at 1024 of 1024 bytes of shared memory   --> choice:21");
}

TEST_F(EmulatedBlock, FindsThreadsThatDoNotMeet) {
  EXPECT_EQ(run(10), "block 0: deadlock: 32 of 64 threads have ended, 32 wait for the barrier at line 11");
  EXPECT_EQ(run(11),
            "thread 32 of block 0 waits at a barrier, but others wait at that of line 12   --> choice:13");
  EXPECT_EQ(run(12),
            "block 0: deadlock: 33 of 64 threads have ended, 31 wait for lanes of their warp at line 14");
}

TEST_F(EmulatedBlock, FindsCopiesThatNoWaitCovers) {
  for (Landing landing : {Landing::last, Landing::first}) {
    std::string thread = landing == Landing::last ? "thread 0" : "thread 63";
    std::string byte = landing == Landing::last ? "0" : "252";
    EXPECT_EQ(run(14, landing), thread + " of block 0 reads byte " + byte +
                                    " of shared memory, to which a copy by " + thread +
                                    " is unfinished   --> choice:16");
    EXPECT_EQ(run(16, landing), thread + " of block 0 reads byte " + byte +
                                    " of shared memory, to which a copy by " + thread +
                                    " is unfinished   --> choice:18");
  }
  EXPECT_EQ(
      run(15),
      "thread 0 of block 0 reads byte 256 of shared memory, to which a copy by thread 0 is unfinished   "
      "--> choice:17");
  EXPECT_EQ(run(17), "thread 0 of block 0 ends with copies that no wait covers   --> :0");
}

TEST_F(EmulatedBlock, ShufflesAndCopies) {
  ASSERT_EQ(run(20), "right");
  for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], i < 32 ? 496 : 1520);
  for (Landing landing : {Landing::last, Landing::first}) {
    ASSERT_EQ(run(21, landing), "right");
    for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], i < 4 ? 0 : 63 - i);
  }
}

}  // namespace
}  // namespace tessera
