#include "tile_core/ir/channel.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

/// A piece of the block's shared memory.
struct Piece {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  const char* what = "";
  const Inst* channel = nullptr;
};

std::vector<Piece> pieces_of(const Program& program) {
  std::vector<Piece> pieces;
  for (const Inst& inst : program.body.insts) {
    const Channel* channel = std::get_if<Channel>(&inst.op);
    if (channel == nullptr) continue;
    const Type& type = program.type(inst.result());
    std::int64_t slots = type.slots;
    std::int64_t bytes = slots * slot_bytes(program, type, *channel);
    pieces.push_back({channel->offset, channel->offset + bytes, " begins", &inst});
    if (channel->barriers < 0) continue;
    bytes = slots * kBarrierBytes;
    pieces.push_back({channel->barriers, channel->barriers + bytes, "'s barriers begin", &inst});
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  return pieces;
}

}  // namespace

/// The pieces stand apart from each other, and are all of the block's shared memory.
void verify_plan(const Program& program) {
  constexpr std::int64_t kGap = 16;  // bytes that alignment may leave at the end
  std::int64_t end = 0;
  for (const Piece& piece : pieces_of(program)) {
    if (piece.begin < end) {
      fail_verify(program, *piece.channel,
                  fmt::format("the channel{} at byte {}, but the piece below ends at {}", piece.what,
                              piece.begin, end));
    }
    end = piece.end;
  }
  std::int64_t bytes = program.launch.shared_bytes;
  if (bytes < end || bytes >= end + kGap)
    fail_verify(program, fmt::format("{} bytes of shared memory, but the channels end at {}", bytes, end));
}

}  // namespace tessera
