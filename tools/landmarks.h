#pragma once
#include <string>
#include <string_view>

namespace tessera::tools {

/// The instructions of a SASS listing that tell how a kernel works, counted: "FFMA 512, LDGSTS.128 8, BAR 2".
/// Those that do not occur are left out.
std::string landmarks(std::string_view sass);

}  // namespace tessera::tools
