#include "tile_core/interpreter/fibers.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace tessera::interpreter {
namespace {

TEST(Fiber, GoesOnWhereItStopped) {
  std::vector<int> steps;
  Fiber* self = nullptr;
  Fiber fiber([&] {
    for (int i = 0; i < 3; ++i) {
      steps.push_back(i);
      self->yield();
    }
  });
  self = &fiber;
  for (int i = 0; i < 3; ++i) {
    fiber.resume();
    steps.push_back(10 + i);
    EXPECT_FALSE(fiber.ended());
  }
  fiber.resume();
  EXPECT_TRUE(fiber.ended());
  EXPECT_EQ(steps, (std::vector<int>{0, 10, 1, 11, 2, 12}));
}

TEST(Fiber, PassesOnWhatItsBodyThrows) {
  Fiber* self = nullptr;
  Fiber fiber([&] {
    self->yield();
    throw std::runtime_error("in the body");
  });
  self = &fiber;
  fiber.resume();
  EXPECT_THROW(fiber.resume(), std::runtime_error);
  EXPECT_TRUE(fiber.ended());
}

TEST(Fiber, UnwindsItsStackWhereItDoesNotEnd) {
  int unwound = 0;
  struct Guard {
    int& count;
    ~Guard() { ++count; }
  };
  try {
    Fiber* self = nullptr;
    Fiber stopped([&] {
      Guard guard{unwound};
      self->yield();
    });
    Fiber not_begun([&] { ++unwound; });
    self = &stopped;
    stopped.resume();
    throw std::runtime_error("another one failed");  // unwinding may happen while an exception is on its way
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(unwound, 1);
}

}  // namespace
}  // namespace tessera::interpreter
