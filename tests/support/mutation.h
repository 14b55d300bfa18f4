#pragma once
#include <string>
#include <vector>

#include "tests/support/same_result.h"

namespace tessera::test {

/// Takes every wait, commit and barrier of a program out in turn, and lets every wait cover one group less,
/// and runs what is left on the call. Returns the instructions whose change no run noticed, neither by an
/// error nor by another result: redundant ones, or holes in the machine.
std::vector<std::string> unnoticed_changes(const Program& program, const Call& call);

}  // namespace tessera::test
