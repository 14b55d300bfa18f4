#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "tile_core/runtime/cubin.h"

namespace tessera {

/// One file of the cache: magic, length of the rest, sha256 of the rest, then a JSON line of facts and the
/// image.
std::string encode_entry(const Cubin& cubin);

struct DecodedEntry {
  std::optional<Cubin> cubin;
  std::string problem;  ///< why there is none: "is cut short (12 of 4,000 bytes)"
};

/// Checks everything that `encode_entry` wrote, and that the entry is the one of `key` (any, if empty).
DecodedEntry decode_entry(std::string_view bytes, std::string_view key);

}  // namespace tessera
