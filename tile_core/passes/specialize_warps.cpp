#include <algorithm>
#include <optional>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/group_rows.h"
#include "tile_core/passes/role_writer.h"

namespace tessera {
namespace {

/// Registers of a thread: what a block of so many warpgroups is launched with, dealt out again; 0: as
/// launched.
struct Registers {
  int producer = 0;
  int consumer = 0;
};
/// 24 do for the producer where the arithmetic of its tiles is short and it shares no copies. Several blocks
/// on a multiprocessor have not the registers of one to deal out: who asked for more would wait for ever.
Registers registers_for(int groups, bool long_arithmetic, int blocks) {
  if (groups == 1 || blocks > 1) return {};
  if (groups == 4) return {long_arithmetic ? 32 : 24, 112};
  if (groups == 3) return {32, 160};
  return long_arithmetic ? Registers{40, 232} : Registers{24, 240};
}

bool is_scalar(const Program& p, const Inst& inst) {
  return inst.results.size() == 1 && is_pure(inst.op) && p.type(inst.result()).axes.empty();
}

/// One thread that asks the copy engine for every tile.
class Producer : RoleWriter {
 public:
  using RoleWriter::RoleWriter;

  Role role(int registers) {
    Role role{.warps = kGroupWarps, .registers = registers, .elected = true};
    b_.enter(&role.body);
    if (!p_.launch.cluster.alone()) rank_ = b_.emit(ClusterRank{}, kIndex);
    Block body = write(p_.body);
    std::move(body.insts.begin(), body.insts.end(), std::back_inserter(role.body.insts));
    return role;
  }

 private:
  void instruction(const Inst& inst) override {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop != nullptr && loop->axis == AxisId::none) return tile_loop(inst, *loop);
    if (loop != nullptr && streams(*loop)) return streaming_loop(inst, *loop);
    if (const Stream* stream = stream_of(inst)) return copy(inst, *stream);
    if (is_scalar(p_, inst) && b_.knows_operands(inst.op)) {
      b_.replace(inst.result(), b_.emit(b_.mapped(inst.op), p_.type(inst.result()), inst.loc));
    }
  }

  void streaming_loop(const Inst& inst, const Loop& old) {
    Loop loop{.axis = old.axis, .begin = b_.map(old.begin), .end = b_.map(old.end)};
    loop.first_ticket = first_ticket(old);
    loop.start = b_.define(old.start, kIndex);
    loop.ticket = tickets_[&old] = b_.out().new_value(kIndex);
    Block* outer = b_.enter(&loop.body);
    block(old.body);
    b_.enter(outer);
    b_.statement(std::move(loop), inst.loc);
  }

  void copy(const Inst& inst, const Stream& stream) {
    const Slot root = slot(root_of(stream));
    if (&root_of(stream) == &stream) b_.statement(PassSlot{SlotStep::acquire, root}, inst.loc);
    Load load = std::get<Load>(inst.op);
    for (Subscript& s : load.subscripts) s.value = b_.map(s.value);
    CopyIn copy{.load = std::move(load), .to = slot(stream), .kind = CopyKind::bulk};
    if (stream.shared_along != AxisId::none) share(copy, stream.shared_along);
    b_.statement(std::move(copy), inst.loc);
    if (stream.last) b_.statement(PassSlot{SlotStep::commit, root}, inst.loc);
  }

  /// Of what all blocks of the cluster load this one copies its part, to all of them.
  void share(CopyIn& copy, AxisId whole) {
    auto [part, fresh] = parts_.try_emplace(whole, whole);
    if (fresh) {
      AxisInfo info = p_.axis(whole);
      info.kind = AxisKind::part;
      info.name += "_part";
      info.extent /= p_.launch.cluster.blocks;
      part->second = b_.out().new_axis(std::move(info));
    }
    copy.multicast = true;
    copy.to.part = {.of = whole, .to = part->second, .index = rank_};
    ValueId lanes = b_.constant(b_.out().axis(part->second).extent);
    ValueId before = b_.arithmetic(BinaryFn::mul, rank_, lanes);
    for (Subscript& s : copy.load.subscripts) {
      if (s.axis == whole) s = {part->second, b_.arithmetic(BinaryFn::add, s.value, before)};
    }
  }

  /// The next tile is asked for before the copies of this one, and passed on after them: they hide how long
  /// the counter takes.
  void begin_tile(ValueId tiles, ValueId walkers) override { next_ = tiles_.draw(b_, tiles, walkers); }
  ValueId next_tile(ValueId tiles) override {
    tiles_.pass(b_, next_, tiles, tile_);
    return next_;
  }

  ValueId next_ = ValueId::none;    // tile, where they are drawn
  ValueId rank_ = ValueId::none;    // of this block in its cluster
  std::map<AxisId, AxisId> parts_;  // of axes, of what one block copies
};

/// Warpgroups that do everything else.
class Consumer : RoleWriter {
 public:
  Consumer(RoleBuilder builder, const std::vector<Stream>& streams, Sharing sharing, DrawnTiles tiles,
           AxisId rows)
      : RoleWriter(std::move(builder), streams, sharing, tiles),
        rows_(b_, rows, sharing.row_groups(),
              instance_ = sharing.groups > 1 ? b_.out().new_value(kIndex) : ValueId::none) {}

  Role role(int registers) {
    Role role{.warps = kGroupWarps, .instances = sharing_.groups, .registers = registers};
    role.instance = instance_;
    role.body = write(p_.body);
    return role;
  }

 private:
  bool alternates() const override { return sharing_.share == Share::alternate; }

  void instruction(const Inst& inst) override {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop != nullptr && loop->axis == AxisId::none) return tile_loop(inst, *loop);
    if (loop != nullptr) return inner_loop(inst, *loop);
    if (const Stream* stream = stream_of(inst)) return view(inst, *stream);
    Op op = rows_.of(b_.mapped(inst.op));
    if (const Store* store = std::get_if<Store>(&inst.op); store != nullptr && all_add(*store))
      return by_first_group(std::move(op), inst.loc);
    if (inst.results.empty()) return b_.statement(std::move(op), inst.loc);
    b_.replace(inst.result(), b_.emit(std::move(op), rows_.of(p_.type(inst.result())), inst.loc));
  }

  /// Whether groups that share a tile would each add one that has none of its rows: all of them hold it.
  bool all_add(const Store& store) const {
    return store.accumulate && sharing_.row_groups() > 1 && !rows_.split(p_.type(store.value));
  }

  void by_first_group(Op op, Loc loc) {
    ValueId one = b_.constant(1);
    If branch{.condition = b_.less(instance_, one), .then = {}, .otherwise = {}};
    branch.then.insts.push_back({{}, std::move(op), loc});
    b_.statement(std::move(branch), loc);
  }

  /// Of a range of streams, in the order of the program, the first loop that one feeds.
  template <typename Iterator>
  static const Loop* first_fed(Iterator begin, Iterator end) {
    auto found = std::find_if(begin, end, [](const Stream& stream) { return stream.loop != nullptr; });
    return found == end ? nullptr : found->loop;
  }

  /// Groups that alternate take one turn for all dots of a tile: each waits for slots in the order in which
  /// they fill, and one may have a tile more than the other.
  void inner_loop(const Inst& inst, const Loop& old) {
    const bool sooner = rows_.stop_sooner(old);
    Loop loop{.axis = old.axis, .begin = b_.map(old.begin), .pipelined = old.pipelined};
    loop.end = sooner ? rows_.end_of(old) : b_.map(old.end);
    if (streams(old)) {
      loop.first_ticket = first_ticket(old);
      loop.ticket = tickets_[&old] = b_.out().new_value(kIndex);
    }
    loop.start = b_.define(old.start, kIndex);
    for (std::size_t i = 0; i < old.carried.size(); ++i) {
      loop.carried.push_back(b_.map(old.carried[i]));
      loop.parameters.push_back(b_.define(old.parameters[i], rows_.of(p_.type(old.parameters[i]))));
    }
    if (alternates() && &old == first_fed(streams_.begin(), streams_.end()))
      b_.statement(TakeTurn{}, inst.loc);
    Block* outer = b_.enter(&loop.body);
    block(old.body);
    for (ValueId id : old.body.yields) loop.body.yields.push_back(b_.map(id));
    b_.enter(outer);
    Inst result{{}, {}, inst.loc};
    for (ValueId id : inst.results) result.results.push_back(b_.define(id, rows_.of(p_.type(id))));
    const ValueId end = loop.end, first = loop.first_ticket;
    result.op = std::move(loop);
    b_.add(std::move(result));
    if (alternates() && &old == first_fed(streams_.rbegin(), streams_.rend()))
      b_.statement(PassTurn{}, inst.loc);
    if (sooner && streams(old)) skip_rest(old, end, first, inst.loc);
  }

  /// After a loop that has ended at `end`, what the producer fills for the rows of other groups.
  void skip_rest(const Loop& old, ValueId end, ValueId first, Loc loc) {
    const int extent = p_.axis(old.axis).extent;
    ValueId begin = b_.map(old.begin), trips = b_.trips(begin, end, extent);
    ValueId ran = b_.arithmetic(BinaryFn::mul, trips, b_.constant(extent));
    Loop rest{.axis = old.axis, .begin = b_.arithmetic(BinaryFn::add, begin, ran), .end = b_.map(old.end)};
    rest.first_ticket = first == ValueId::none ? trips : b_.arithmetic(BinaryFn::add, first, trips);
    rest.start = b_.out().new_value(kIndex);
    rest.ticket = tickets_[&old] = b_.out().new_value(kIndex);
    Block* outer = b_.enter(&rest.body);
    for (const Stream& stream : streams_) {
      if (stream.loop == &old && &root_of(stream) == &stream)
        b_.statement(PassSlot{SlotStep::skip, slot(stream)}, loc);
    }
    b_.enter(outer);
    b_.statement(std::move(rest), loc);
  }

  void view(const Inst& inst, const Stream& stream) {
    if (&root_of(stream) == &stream) b_.statement(PassSlot{SlotStep::wait, slot(stream)}, inst.loc);
    const Type& type = p_.type(inst.result());
    b_.replace(inst.result(), b_.emit(View{rows_.of(slot(stream), type)}, rows_.of(type), inst.loc));
  }

  ValueId first_tile(ValueId own) override { return alternates() ? tiles_.first(b_, own, instance_) : own; }
  ValueId next_tile(ValueId) override {
    if (!alternates()) return tiles_.take(b_, tile_);
    return tiles_.take(b_, b_.arithmetic(BinaryFn::add, tile_, b_.constant(1)));
  }

  /// A slot goes back after the last instruction that reads it, or one that shares its barriers.
  void passed(const Inst& inst) override {
    for (const Stream& stream : streams_) {
      if (&root_of(stream) == &stream && stream.last_use == &inst)
        b_.statement(PassSlot{SlotStep::release, slot(stream)}, inst.loc);
    }
  }

  GroupRows rows_;
};

AxisId rows_of(const Program& p) {
  AxisId rows = AxisId::none;
  for_each_inst(p.body, [&](const Inst& inst) {
    if (const Dot* dot = std::get_if<Dot>(&inst.op)) rows = dot_axes(p, *dot).rows;
  });
  return rows;
}

/// What stands before the roles: channels, and the scalars that no loop makes.
RoleBuilder shared_part(const Program& in, Program& out, std::vector<Stream>& streams) {
  RoleBuilder b(in, out);
  b.enter(&out.body);
  for (Stream& stream : streams) {
    Channel channel = stream.channel;
    if (&streams[stream.root] != &stream) channel.with = streams[stream.root].id;
    stream.id = b.emit(std::move(channel), stream.type);
  }
  for (const Inst& inst : in.body.insts) {
    if (!is_scalar(in, inst) || !b.knows_operands(inst.op)) continue;
    b.replace(inst.result(), b.emit(b.mapped(inst.op), in.type(inst.result()), inst.loc));
  }
  return b;
}

}  // namespace

Program specialize_warps(const Program& in, const PassContext& context) {
  if (!uses_wgmma(in, context)) return in;
  const Sharing sharing = sharing_of(in, context);
  std::vector<Stream> streams = streams_of(in, context);
  Program out = in;
  out.body = {};
  out.types.clear();
  RoleBuilder shared = shared_part(in, out, streams);
  const ValueId drawn =
      in.launch.counter ? shared.emit(DrawnTiles::channel(), DrawnTiles::type()) : ValueId::none;
  const DrawnTiles tiles(drawn, sharing.share == Share::alternate);
  const bool long_arithmetic = raster_of(in, context) > 1 || !in.launch.cluster.alone();
  const Registers registers = registers_for(sharing.groups, long_arithmetic, context.schedule.blocks);
  Roles roles;
  roles.roles.push_back(Producer(shared, streams, sharing, tiles).role(registers.producer));
  roles.roles.push_back(Consumer(shared, streams, sharing, tiles, rows_of(in)).role(registers.consumer));
  out.body.insts.push_back({{}, std::move(roles), {}});
  out.launch.warps = kGroupWarps * (1 + sharing.groups);
  return remove_unused(out);
}

}  // namespace tessera
