#include <gtest/gtest.h>

#include "tests/tile_core/codegen/emulated_kernel.h"

namespace tessera {
namespace {

// Warp 0 and warp 1 of 64 threads; an mbarrier of one arrival at byte 512, one of two at byte 520.
const char* const kBody = R"(
struct Parameters {
  float* data_y;
  int64 scalar_what;
};
TESSERA_KERNEL(roles, 64, 1) {
  const int thread = thread_index(), lane = thread % 32;
  TESSERA_SHARED(shared);
  float* const slots = reinterpret_cast<float*>(shared);
  const unsigned full = shared_address(shared + 512), empty = full + 8;
  const int64 what = p.scalar_what;
  const bool writer = thread < 32;
  float one[1] = {float(thread)};
#line 1 "roles"
  if (thread == 0) { mbarrier_init(full, 1); mbarrier_init(empty, 2); }
  if (what != 8) barrier();
  if (what == 0 && writer) { write_shared<1>(slots + lane, one); warp_barrier(); mbarrier_arrive(full, lane == 0); }
  if (what == 1 && writer) { write_shared<1>(slots + lane, one); mbarrier_arrive(full, lane == 31); }
  if (what <= 1 && !writer) { mbarrier_wait(full, 0); read_shared<1>(one, slots + 31 - lane); store_global<1>(p.data_y + lane, one, true); }
  if (what == 2 && writer) { write_shared<1>(slots + lane, one); warp_barrier(); mbarrier_arrive(full, lane == 0); }
  if (what == 2 && !writer) { mbarrier_wait(full, 1); read_shared<1>(one, slots + lane); }
  if (what == 3) { mbarrier_arrive(empty, lane < 2); }
  if (what == 4 && writer) { mbarrier_wait(empty, 0); }
  if (what == 5) { mbarrier_arrive(empty + 8, lane == 0); }
  if (what == 6) { write_shared<1>(slots + 128, one); }
  if (what == 7) { mbarrier_arrive_expect(full, 64 * (1 - thread / 32)); mbarrier_wait(full, 0); }
  if (what == 8 && lane == 31) { mbarrier_arrive(full, !writer); }
  // A slot that goes back and forth: written, read, written again, with what == 10 to 12 a step left out.
  if (what >= 9 && what <= 12 && writer) {
    for (unsigned use = 0; use < 4; ++use) {
      if (what != 10) mbarrier_wait(empty, use % 2 ^ 1);
      one[0] = float(use * 32 + lane);
      write_shared<1>(slots + lane, one);
      warp_barrier();
      mbarrier_arrive(full, lane == 0);
    }
  }
  if (what >= 9 && what <= 12 && !writer) {
    for (unsigned use = 0; use < 4; ++use) {
      if (what != 11) mbarrier_wait(full, use % 2);
      read_shared<1>(one, slots + 31 - lane);
      store_global<1>(p.data_y + lane, one, true);
      if (what != 12) warp_barrier();
      mbarrier_arrive(empty, lane < 2);
    }
  }
  if (what == 13) { write_shared<1>(slots + thread, one); meet<2, 2, 64>(1); read_shared<1>(one, slots + 63 - thread); }
  if (what == 14) { if (writer) { write_shared<1>(slots + lane, one); arrive<1, 1, 64>(0); } else { meet<1, 1, 64>(0); read_shared<1>(one, slots + lane); } }
  if (what == 15) { if (writer) { arrive<1, 1, 64>(0); write_shared<1>(slots + lane, one); } else { meet<1, 1, 64>(0); read_shared<1>(one, slots + lane); } }
  if (what == 16) { if (writer) { meet<1, 1, 64>(0); } else { meet<1, 1, 32>(0); } }
  if (what == 17) { if (writer) { meet<1, 2, 64>(0); } else { meet<1, 2, 64>(1); } }
  if (what == 18) { one[0] = elect() ? uniform(5) : float(block_count()); give_registers<40>(); take_registers<232>(); if (lane == 0 || lane == 9) store_global<1>(p.data_y + lane, one, true); }
}
)";

class EmulatedRoles : public ::testing::Test {
 protected:
  std::string run(int what, Landing landing = Landing::last) {
    return test::complaint(kernel_, {view_}, {static_cast<double>(what)}, landing);
  }

  float y[64] = {};
  TensorView view_{.data = y, .dtype = f32, .rank = 1, .sizes = {64}, .strides = {1}};
  KernelText kernel_{.name = "roles",
                     .text = kBody,
                     .threads = 64,
                     .shared_bytes = 1024,
                     .parameters = {{Parameter::Kind::pointer, 0}, {Parameter::Kind::scalar_i64, 0}},
                     .grid = {{0, 0, 64}}};
};

TEST_F(EmulatedRoles, RightOrdersPass) {
  for (Landing landing : {Landing::last, Landing::first}) {
    for (int what : {0, 9, 13, 14, 18}) EXPECT_EQ(run(what, landing), "right") << what;
  }
}

TEST_F(EmulatedRoles, AnMbarrierPassesASlotOn) {
  ASSERT_EQ(run(0), "right");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(y[i], 31 - i);
  ASSERT_EQ(run(9), "right");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(y[i], 96 + 31 - i);
}

TEST_F(EmulatedRoles, OneThreadIsElectedOfAWarp) {
  ASSERT_EQ(run(18), "right");
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[9], 1);
}

TEST_F(EmulatedRoles, AnArrivalSpeaksForLanesThatHaveMetOnly) {
  EXPECT_EQ(run(1),
            "thread 33 of block 0 reads byte 120 of shared memory, which thread 30 has written, with no "
            "barrier between   --> roles:5");
}

TEST_F(EmulatedRoles, AWaitForTheParityBeforePassesAtOnce) {
  EXPECT_EQ(run(2),
            "thread 63 of block 0 reads byte 124 of shared memory, which nothing has written   --> roles:7");
}

TEST_F(EmulatedRoles, CountsArrivals) {
  EXPECT_EQ(run(3), "right");
  EXPECT_EQ(
      run(7),
      "thread 1 of block 0 arrives at the mbarrier at byte 512, where all 1 of this phase have arrived   "
      "--> roles:12");
  EXPECT_EQ(run(4), "block 0: deadlock: 32 of 64 threads have ended, 32 wait for an mbarrier at line 9");
}

TEST_F(EmulatedRoles, FindsWhatIsNoMbarrier) {
  EXPECT_EQ(
      run(5),
      "thread 0 of block 0 uses byte 528 of shared memory as an mbarrier, which none is   --> roles:10");
  EXPECT_EQ(run(6),
            "thread 63 of block 0 writes byte 512 of shared memory, where an mbarrier is   --> roles:11");
  EXPECT_EQ(run(8),
            "thread 63 of block 0 uses the mbarrier at byte 512, which another has made, with no barrier "
            "between   --> roles:13");
}

TEST_F(EmulatedRoles, FindsStepsThatAreLeftOut) {
  EXPECT_EQ(run(10),
            "thread 32 of block 0 reads byte 124 of shared memory, which thread 31 has written, with no "
            "barrier between   --> roles:27");
  EXPECT_EQ(run(11),
            "thread 63 of block 0 reads byte 0 of shared memory, which nothing has written   --> roles:27");
  EXPECT_EQ(run(12),
            "thread 0 of block 0 writes byte 0 of shared memory, which thread 63 has read, with no barrier "
            "between   --> roles:19");
}

TEST_F(EmulatedRoles, NamedBarriersOrderWhatComesBeforeTheArrival) {
  EXPECT_EQ(run(15),
            "thread 62 of block 0 reads byte 120 of shared memory, which thread 30 has written, with no "
            "barrier between   --> roles:35");
  EXPECT_EQ(run(16), "thread 0 of block 0 meets 64 threads, where others meet 32   --> roles:36");
  EXPECT_EQ(
      run(17),
      "block 0: deadlock: 0 of 64 threads have ended, 64 wait for the others of a named barrier at line "
      "37");
}

}  // namespace
}  // namespace tessera
