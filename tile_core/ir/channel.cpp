#include "tile_core/ir/channel.h"

namespace tessera {

std::int64_t slot_bytes(const Program& program, const Type& type, const Channel& channel) {
  std::int64_t rows = elements(program, type);
  if (!channel.order.empty()) rows /= program.axis(channel.order.back()).extent;
  std::int64_t bytes = rows * channel.pitch * size_of(type.dtype);
  return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

}  // namespace tessera
