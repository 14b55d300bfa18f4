#pragma once
#include "tests/fuzz/choices.h"
#include "tests/support/emulated_result.h"

namespace tessera::fuzz {

/// A schedule whose fields break no rule of the table, an architecture, and how tensors lie in memory.
test::Setting random_setting(Choices& choices, bool wide);

}  // namespace tessera::fuzz
