#pragma once
#include <map>
#include <vector>

#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/drawn_tiles.h"
#include "tile_core/passes/role_builder.h"
#include "tile_core/passes/streams.h"

namespace tessera {

/// What producer and consumers do alike: the loop over tiles, and the tickets of streams. All roles count the
/// same uses, since all run the same loops.
class RoleWriter {
 public:
  RoleWriter(RoleBuilder builder, const std::vector<Stream>& streams, Sharing sharing, DrawnTiles tiles)
      : b_(std::move(builder)), p_(b_.in()), streams_(streams), sharing_(sharing), tiles_(tiles) {}
  virtual ~RoleWriter() = default;

 protected:
  /// Writes what the role does of an instruction.
  virtual void instruction(const Inst& inst) = 0;
  /// After every instruction of a block, those too that the role has no part in.
  virtual void passed(const Inst&) {}
  // Where tiles are drawn: the first tile of an instance; before everything else of a tile, and after it.
  virtual ValueId first_tile(ValueId own) { return own; }
  virtual void begin_tile(ValueId /*tiles*/, ValueId /*walkers*/) {}
  virtual ValueId next_tile(ValueId tiles) = 0;
  /// Whether this role's instances visit tiles in turn.
  virtual bool alternates() const { return false; }

  Block write(const Block& program);
  void block(const Block& block);
  void tile_loop(const Inst& inst, const Loop& old);
  bool streams(const Loop& loop) const;
  /// The ticket of a streaming loop's first iteration: as many as the tiles before have used.
  ValueId first_ticket(const Loop& old);

  const Stream* stream_of(const Inst& inst) const;
  const Stream& root_of(const Stream& stream) const { return streams_[stream.root]; }
  /// The slot of this iteration of the stream's loop, or of this tile.
  Slot slot(const Stream& stream) const;

  RoleBuilder b_;
  const Program& p_;
  const std::vector<Stream>& streams_;
  Sharing sharing_;
  DrawnTiles tiles_;
  ValueId instance_ = ValueId::none;
  std::map<const Loop*, ValueId> tickets_;  // of the loops that stream
  ValueId tile_ = ValueId::none;            // the number of the tile among those that the block visits

 private:
  void walk(Loop& loop, const Loop& old);
  ValueId number_of_tile(ValueId ticket);
  std::vector<const Loop*> varying(const Loop& tiles) const;

  std::map<const Loop*, ValueId> bases_;  // first tickets of the loops whose trips differ from tile to tile
};

}  // namespace tessera
