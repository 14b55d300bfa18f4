#include "tile_core/interpreter/mbarrier.h"

#include <gtest/gtest.h>

namespace tessera::interpreter {
namespace {

TEST(MBarrier, EndsAPhaseWithArrivalsAndBytes) {
  MBarrier barrier(2);
  Clock nobody;
  barrier.land(64, {});  // before it is expected
  barrier.arrive(1, nobody);
  EXPECT_EQ(barrier.lacks(), "1 arrivals and -64 bytes");
  barrier.expect(96);
  barrier.arrive(1, nobody);
  EXPECT_EQ(barrier.ended(), 0);
  EXPECT_FALSE(barrier.lacks_arrivals());
  EXPECT_EQ(barrier.lacks(), "0 arrivals and 32 bytes");
  barrier.land(32, {});
  EXPECT_EQ(barrier.ended(), 1);
  EXPECT_TRUE(barrier.is_fresh());
}

TEST(MBarrier, KnowsPhasesByTheirParity) {
  MBarrier barrier(1);
  Clock nobody;
  EXPECT_TRUE(barrier.passes(-1));
  EXPECT_FALSE(barrier.passes(0));
  EXPECT_TRUE(barrier.passes(1));  // two phases early
  barrier.arrive(1, nobody);
  EXPECT_TRUE(barrier.passes(0));
  EXPECT_FALSE(barrier.passes(1));
  barrier.arrive(1, nobody);
  EXPECT_FALSE(barrier.passes(0));  // one phase late
}

TEST(MBarrier, TellsWhatWasKnownToThoseWhoEndedAPhase) {
  MBarrier barrier(2);
  Clock one;
  Clock other;
  one.learn(Event{Agent::threads, 0, 5});
  other.learn(Event{Agent::dots, 1, 2});
  barrier.arrive(1, one);
  EXPECT_FALSE(barrier.clock().knows({Agent::threads, 0, 5}));
  barrier.arrive(1, other);
  EXPECT_TRUE(barrier.clock().knows({Agent::threads, 0, 5}));
  EXPECT_TRUE(barrier.clock().knows({Agent::dots, 1, 1}));
  EXPECT_FALSE(barrier.clock().knows({Agent::dots, 1, 3}));
  EXPECT_FALSE(barrier.clock().knows({Agent::dots, 0, 1}));
}

}  // namespace
}  // namespace tessera::interpreter
