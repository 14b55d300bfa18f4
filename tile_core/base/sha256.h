#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// sha256 of `bytes`, 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace tessera
