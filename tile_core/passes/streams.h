#pragma once
#include <map>
#include <vector>

#include "tile_core/ir/uses.h"
#include "tile_core/passes/passes.h"

namespace tessera {

/// A tile that crosses from the producer to the consumers: a load into shared memory, through a channel.
struct Stream {
  const Inst* load = nullptr;
  const Loop* loop = nullptr;  ///< that it stands in; null: none but the loop over tiles
  std::size_t root = 0;        ///< the stream whose barriers it shares, or itself
  bool last = true;            ///< of those that share barriers, in program order
  /// In the load's block: the last that reads the tile, or one whose root it is.
  const Inst* last_use = nullptr;
  Type type;  ///< of the channel
  /// Where all blocks of a cluster load the same tile: each copies a part along this axis, to all.
  AxisId shared_along = AxisId::none;
  Channel channel;
  ValueId id = ValueId::none;  ///< the channel, once it is declared
};

/// Every load into shared memory of a program at Stage::laid_out, in program order. Loads of one block that
/// one dot reads share barriers.
std::vector<Stream> streams_of(const Program& program, const PassContext& context);

}  // namespace tessera
