#include "tile_core/passes/streams.h"

#include <algorithm>

#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/varying.h"
#include "tile_core/passes/cluster.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/drawn_tiles.h"
#include "tile_core/passes/store_slices.h"

namespace tessera {
namespace {

/// Of a loop's loads, where they fit, and at the least.
constexpr int kStages = 4;
constexpr int kFewestStages = 2;
/// Of loads that stand outside loops, where they fit: the next tile's run under this one.
constexpr int kTileStages = 2;

class Streams {
 public:
  Streams(const Program& program, const PassContext& context)
      : p_(program), context_(context), varying_(varying_in_cluster(program)) {}

  std::vector<Stream> run() {
    block(p_.body, nullptr);
    choose_slots();
    return std::move(streams_);
  }

 private:
  /// The most stages that fit; with so many, two tiles of what loads outside of loops.
  void choose_slots() {
    const Schedule& s = context_.schedule;
    const bool free = s.stages == Schedule::kAutomatic;
    // Groups that alternate have a slot each: else one would wait for a use two phases ahead.
    const int least = sharing_of(p_, context_).share == Share::alternate ? kTileStages : 1;
    for (int stages = free ? kStages : s.stages;; --stages) {
      for (int tiles = kTileStages; tiles >= least; --tiles) {
        for (Stream& stream : streams_) stream.type.slots = stream.loop == nullptr ? tiles : stages;
        if (bytes() <= context_.target.shared_bytes_for(s.blocks)) return;
      }
      if (!free || stages == kFewestStages) return;
    }
  }

  /// Of all channels, those that stores go through included.
  std::int64_t bytes() const {
    std::int64_t total = 0;
    for (const Stream& stream : streams_)
      total += stream.type.slots * (slot_bytes(p_, stream.type, stream.channel) + kBarrierBytes);
    if (p_.launch.counter) {
      const Type drawn = DrawnTiles::type();
      total += drawn.slots * (slot_bytes(p_, drawn, DrawnTiles::channel()) + kBarrierBytes);
    }
    for_each_inst(p_.body, [&](const Inst& inst) {
      const Store* store = std::get_if<Store>(&inst.op);
      if (store == nullptr) return;
      const std::int64_t buffers = std::int64_t{sharing_of(p_, context_).groups} * kStoreBuffers;
      total += buffers * kDotRows * slice_row_bytes(p_, context_, *store);
    });
    return total;
  }

  /// Whether an instruction, or one inside its blocks, reads a value.
  static bool reads(const Inst& inst, ValueId id) {
    bool found = false;
    for_each_operand(inst.op, [&](ValueId operand) { found = found || operand == id; });
    for_each_block(inst.op, [&](const Block& inner) {
      for (const Inst& i : inner.insts) found = found || reads(i, id);
    });
    return found;
  }

  void block(const Block& b, const Loop* around) {
    for (const Inst& inst : b.insts) {
      const Loop* loop = std::get_if<Loop>(&inst.op);
      if (loop != nullptr) block(loop->body, loop->axis == AxisId::none ? nullptr : loop);
    }
    const std::size_t first = streams_.size();
    for (const Inst& inst : b.insts) {
      if (std::holds_alternative<Load>(inst.op) && p_.type(inst.result()).space == Space::shared)
        add(inst, around, b, first);
    }
  }

  void add(const Inst& inst, const Loop* around, const Block& b, std::size_t first) {
    Stream stream{.load = &inst, .loop = around, .root = streams_.size()};
    stream.type = p_.type(inst.result());
    stream.type.space = Space::anywhere;
    stream.channel.order = order_of(std::get<Load>(inst.op));
    stream.channel.swizzle = swizzle_of(p_, stream.type.dtype, stream.channel.order.back());
    stream.shared_along = shared_along(std::get<Load>(inst.op));
    for (const Inst& user : b.insts) {
      if (reads(user, inst.result())) stream.last_use = &user;
    }
    for (std::size_t i = first; i < streams_.size(); ++i) {
      if (streams_[i].root != i || !share_a_dot(b, streams_[i].load->result(), inst.result())) continue;
      stream.root = i;
      streams_[i].last_use = std::max(streams_[i].last_use, stream.last_use);  // of one block
      for (std::size_t j = i; j < streams_.size(); ++j)
        streams_[j].last = streams_[j].last && streams_[j].root != i;
    }
    streams_.push_back(std::move(stream));
  }

  /// The axis along which blocks of a cluster cut what all of them load; none where they load different
  /// tiles.
  AxisId shared_along(const Load& load) const {
    const Cluster& cluster = p_.launch.cluster;
    bool varies = std::any_of(load.subscripts.begin(), load.subscripts.end(),
                              [&](const Subscript& s) { return varying_(s.value); });
    return cluster.alone() || varies ? AxisId::none : cut_axis(p_, context_, load, cluster.blocks);
  }

  /// Slowest axis first: as the tensor's dims, but for its contiguous one, which is last.
  std::vector<AxisId> order_of(const Load& load) const {
    auto contiguous =
        static_cast<std::size_t>(context_.facts.tensors.at(index_of(load.tensor)).contiguous_dim);
    std::vector<AxisId> order;
    for (std::size_t i = 0; i < load.subscripts.size(); ++i) {
      if (i != contiguous && load.subscripts[i].axis != AxisId::none)
        order.push_back(load.subscripts[i].axis);
    }
    order.push_back(load.subscripts[contiguous].axis);
    return order;
  }

  static bool share_a_dot(const Block& b, ValueId a, ValueId other) {
    return std::any_of(b.insts.begin(), b.insts.end(), [&](const Inst& inst) {
      const Dot* dot = std::get_if<Dot>(&inst.op);
      return dot != nullptr && ((dot->a == a && dot->b == other) || (dot->a == other && dot->b == a));
    });
  }

  const Program& p_;
  const PassContext& context_;
  Varying varying_;  // from block to block of a cluster
  std::vector<Stream> streams_;
};

}  // namespace

std::vector<Stream> streams_of(const Program& program, const PassContext& context) {
  return Streams(program, context).run();
}

}  // namespace tessera
