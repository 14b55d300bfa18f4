#pragma once
#include "tile_core/ir/type.h"

namespace tessera::tools {

/// 32-bit registers of a thread that hold its part of a tile; 0 of what is no tile in registers.
inline int registers_of(const Type& type) {
  constexpr int kRegisterBytes = 4;
  if (type.layout.empty() || type.axes.empty()) return 0;
  return (type.layout.count(Place::reg) * size_of(type.dtype) + kRegisterBytes - 1) / kRegisterBytes;
}

}  // namespace tessera::tools
