#pragma once
#include <string_view>

namespace tessera {

/// The library's version, "0.1.0". A call of it also keeps the library on a link line that drops what is not
/// needed.
std::string_view version();

}  // namespace tessera
