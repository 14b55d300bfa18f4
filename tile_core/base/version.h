#pragma once
#include <string_view>

namespace tessera {

/// The library's version, "0.1.0": CMake's project version. Part of every key and record on disk.
std::string_view version();

}  // namespace tessera
