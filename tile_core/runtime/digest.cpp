#include "tile_core/runtime/digest.h"

#include <algorithm>
#include <boost/hash2/digest.hpp>
#include <boost/hash2/sha2.hpp>

#include "tile_core/base/version.h"

namespace tessera {
namespace {

std::string hex(boost::hash2::sha2_256& hash) {
  return boost::hash2::to_string(hash.result());
}

// The length keeps "ab" + "c" and "a" + "bc" apart.
void add(boost::hash2::sha2_256& hash, std::string_view part) {
  const std::uint64_t length = part.size();
  hash.update(&length, sizeof(length));
  hash.update(part.data(), part.size());
}

}  // namespace

std::string sha256(std::string_view bytes) {
  boost::hash2::sha2_256 hash;
  hash.update(bytes.data(), bytes.size());
  return hex(hash);
}

std::string kernel_key(std::string_view text, const std::vector<std::string>& flags, std::string_view arch,
                       std::string_view nvrtc_version) {
  boost::hash2::sha2_256 hash;
  add(hash, text);
  for (const std::string& flag : flags) add(hash, flag);
  add(hash, arch);
  add(hash, nvrtc_version);
  add(hash, version());
  return hex(hash);
}

bool is_digest(std::string_view name) {
  constexpr std::size_t kHexDigits = 64;
  return name.size() == kHexDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace tessera
