#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The cache's key: sha256 of text, compiler flags, exact architecture, NVRTC version and Tessera's version.
std::string kernel_key(std::string_view text, const std::vector<std::string>& flags, std::string_view arch,
                       std::string_view nvrtc_version);

/// Whether `name` is a digest in hexadecimal.
bool is_digest(std::string_view name);

}  // namespace tessera
