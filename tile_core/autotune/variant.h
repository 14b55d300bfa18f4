#pragma once
#include <string>

#include "tile_core/target/facts.h"
#include "tile_core/target/schedule.h"

namespace tessera::autotune {

/// A tile kernel that may run a call: tiles of the operator's program, and how the compiler maps it.
struct Variant {
  Tiles tiles;
  Schedule schedule;
  bool operator==(const Variant&) const = default;
};

/// "m=64 n=64 k=32 warps=4"
std::string to_text(const Variant& variant);

}  // namespace tessera::autotune
