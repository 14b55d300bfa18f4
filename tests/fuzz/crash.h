#pragma once
#include <string_view>

namespace tessera::fuzz {

/// From here on this thread runs that case: a signal that ends the process prints it, and where it was
/// raised.
void name_case_to_signals(std::string_view text);

}  // namespace tessera::fuzz
