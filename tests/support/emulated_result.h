#pragma once
#include <gtest/gtest.h>

#include "tests/support/same_result.h"
#include "tests/support/storage.h"
#include "tile_core/target/schedule.h"
#include "tile_core/target/target.h"

namespace tessera::test {

/// How a program is compiled and where its tensors lie.
struct Setting {
  Schedule schedule;
  Arrangement arrangement = Arrangement::dense;
  Target target = Target::named("sm_90a");
};
std::string to_text(const Setting& setting);

/// The facts of a call whose tensors are arranged so.
Facts facts_of(const Program& program, const Call& call, const Setting& setting);

/// Whether the text of the lowered program, emulated, gives what the interpreter gives for the lowered
/// program: bitwise, or within `tolerance` times the largest where threads add up parts of a sum.
/// Asynchronous copies land both as late and as early as they may, and threads run in both orders.
::testing::AssertionResult emulates(const Program& program, const Call& call, const Setting& setting,
                                    double tolerance);

/// The same of what lower() made of a program under this setting. Sums may differ by `tolerance` times
/// `floor` where that is larger.
::testing::AssertionResult emulates_lowered(const Program& ready, const Call& call, const Setting& setting,
                                            double tolerance, double floor = 0);

/// The same of a program at Stage::ready, as it is, on dense tensors.
::testing::AssertionResult emulates_as_it_is(const Program& ready, const Call& call, double tolerance = 0);

}  // namespace tessera::test
