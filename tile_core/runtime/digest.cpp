#include "tile_core/runtime/digest.h"

#include <algorithm>
#include <cstdint>

#include "tile_core/base/sha256.h"
#include "tile_core/base/version.h"

namespace tessera {
namespace {

// The length keeps "ab" + "c" and "a" + "bc" apart.
void add(std::string& all, std::string_view part) {
  const std::uint64_t length = part.size();
  all.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(part);
}

}  // namespace

std::string kernel_key(std::string_view text, const std::vector<std::string>& flags, std::string_view arch,
                       std::string_view nvrtc_version) {
  std::string all;
  add(all, text);
  for (const std::string& flag : flags) add(all, flag);
  add(all, arch);
  add(all, nvrtc_version);
  add(all, version());
  return sha256(all);
}

bool is_digest(std::string_view name) {
  constexpr std::size_t kHexDigits = 64;
  return name.size() == kHexDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace tessera
