#pragma once
#include <argp.h>
#include <string_view>

#include "tile_core/base/env.h"

/// Values of command-line options; a wrong one goes to argp_error.
namespace tessera {

/// A number of at least `least`.
int whole_number(const char* option, const char* word, int least, argp_state* state);

/// auto, tile or native.
Policy policy_from(const char* option, std::string_view word, argp_state* state);

}  // namespace tessera
