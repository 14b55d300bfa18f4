#include <cmath>

#include "tile_core/base/match.h"
#include "tile_core/ir/printer.h"

namespace tessera {
namespace {

std::string literal(double value) {
  bool whole = std::abs(value) < 1e15 && value == std::trunc(value) && !(value == 0 && std::signbit(value));
  if (whole) return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

}  // namespace

std::string Printer::operation(const Op& op) {
  std::string text = on_tiles(op);
  return text.empty() ? on_device(op) : text;
}

/// Of an operation of tile_op.h; empty for others.
std::string Printer::on_tiles(const Op& op) {
  return match(
      op, [&](const Constant& o) { return fmt::format("constant {}", literal(o.value)); },
      [&](const Scalar& o) { return fmt::format("scalar {}", p_.scalars.at(index_of(o.scalar)).name); },
      [&](const Size& o) { return fmt::format("size {}", dim(o.dim)); },
      [&](const Index& o) { return fmt::format("index {}{}", axis(o.axis), optional("at", o.start)); },
      [&](const Start& o) { return fmt::format("start {}", axis(o.axis)); },
      [&](const End& o) { return fmt::format("end {}{}", axis(o.axis), optional("at", o.start)); },
      [&](const BlockIndex&) { return std::string("block_index"); },
      [&](const BlockCount&) { return std::string("block_count"); },
      [&](const ClusterIndex&) { return std::string("cluster_index"); },
      [&](const ClusterCount&) { return std::string("cluster_count"); },
      [&](const ClusterRank&) { return std::string("cluster_rank"); },
      [&](const Undefined&) { return std::string("undefined"); },
      [&](const Broadcast& o) { return fmt::format("broadcast {}", value(o.a)); },
      [&](const Slice& o) {
        return fmt::format("slice {} {}/{} at {}", value(o.a), axis(o.of), axis(o.to), o.index);
      },
      [&](const Unary& o) { return fmt::format("{} {}", name_of(o.fn), value(o.a)); },
      [&](const Binary& o) { return fmt::format("{} {}, {}", name_of(o.fn), value(o.a), value(o.b)); },
      [&](const Fma& o) { return fmt::format("fma {}, {}, {}", value(o.a), value(o.b), value(o.c)); },
      [&](const Select& o) {
        return fmt::format("select {}, {}, {}", value(o.condition), value(o.a), value(o.b));
      },
      [&](const Cast& o) { return fmt::format("cast {}", value(o.a)); },
      [&](const Reduce& o) {
        return fmt::format("reduce_{}<{}> {}", name_of(o.fn), axis(o.axis), value(o.a));
      },
      [&](const Dot& o) {
        return fmt::format("dot<{}> {}, {}{}", contracted(o.axis, o.precision), value(o.a), value(o.b),
                           optional("onto", o.accumulator));
      },
      [&](const Load& o) { return "load " + load(o.tensor, o.subscripts); },
      [&](const Store& o) {
        return fmt::format("{} {}, {}", o.accumulate ? "accumulate" : "store", load(o.tensor, o.subscripts),
                           value(o.value));
      },
      [&](const If& o) { return fmt::format("if {}", value(o.condition)); },
      [&](const Convert& o) { return fmt::format("convert {}", value(o.a)); },
      [](const auto&) { return std::string(); });
}

/// Of an operation of device_op.h; empty for others.
std::string Printer::on_device(const Op& op) {
  return match(
      op, [&](const Roles&) { return std::string("roles"); }, [&](const Channel& o) { return channel(o); },
      [&](const View& o) { return fmt::format("view {}", slot(o.slot)); },
      [&](const CopyIn& o) { return copy_in(o); },
      [&](const CommitCopies&) { return std::string("commit_copies"); },
      [&](const WaitCopies& o) { return fmt::format("wait_copies {}", o.pending); },
      [&](const Barrier&) { return std::string("barrier"); },
      [&](const PassSlot& o) { return fmt::format("{} {}", name_of(o.step), slot(o.slot)); },
      [&](const WriteShared& o) { return fmt::format("write_shared {}, {}", slot(o.to), value(o.value)); },
      [&](const ReadShared& o) { return fmt::format("read_shared {}", slot(o.from)); },
      [&](const FenceShared&) { return std::string("fence_shared"); },
      [&](const CopyOut& o) {
        return fmt::format("{} {} to {}", o.accumulate ? "accumulate_out" : "copy_out", slot(o.from),
                           load(o.tensor, o.subscripts));
      },
      [&](const CommitStores&) { return std::string("commit_stores"); },
      [&](const WaitStores& o) { return fmt::format("wait_stores {}", o.pending); },
      [&](const DotShared& o) {
        return fmt::format("{}<{}> {}, {} onto {}", o.mma ? "dot_mma" : "dot_shared",
                           contracted(o.axis, o.precision), dot_operand(o.a), slot(o.b),
                           value(o.accumulator));
      },
      [&](const IssueDot& o) { return issue_dot(o); },
      [&](const FenceDots&) { return std::string("fence_dots"); },
      [&](const CommitDots&) { return std::string("commit_dots"); },
      [&](const WaitDots& o) {
        return fmt::format("wait_dots {}{}{}", o.pending, o.values.empty() ? "" : " ", values(o.values));
      },
      [&](const TakeTurn&) { return std::string("take_turn"); },
      [&](const PassTurn&) { return std::string("pass_turn"); },
      [&](const DrawTile& o) { return fmt::format("draw_tile {}", value(o.tiles)); },
      [&](const ReduceWarp& o) {
        return fmt::format("reduce_warp_{}<{}> {} to {}", name_of(o.fn), axis(o.axis), value(o.a),
                           axis(o.warps));
      },
      [](const auto&) { return std::string(); });
}

std::string Printer::channel(const Channel& o) {
  std::string text = fmt::format("channel order ({})", list(o.order, [this](AxisId a) { return axis(a); }));
  text += o.swizzle > 0 ? fmt::format(" swizzle {}", o.swizzle) : fmt::format(" pitch {}", o.pitch);
  text += optional("with", o.with);
  if (o.offset >= 0) text += fmt::format(" offset {}", o.offset);
  if (o.barriers >= 0) text += fmt::format(" barriers {}", o.barriers);
  return text;
}

std::string Printer::copy_in(const CopyIn& o) {
  std::string text =
      fmt::format("{} {} to {}", name_of(o.kind), load(o.load.tensor, o.load.subscripts), slot(o.to));
  if (o.kind == CopyKind::bulk) return o.multicast ? text + " multicast" : text;
  return fmt::format("{} vector {}", text, o.vector);
}

std::string Printer::issue_dot(const IssueDot& o) {
  return fmt::format("issue_dot<{}> {}, {}{}{}", axis(o.axis), dot_operand(o.a), slot(o.b),
                     optional("onto", o.accumulator), optional("if", o.accumulate));
}

/// "k", or "k, tf32"
std::string Printer::contracted(AxisId id, Precision precision) {
  return precision == Precision::ieee ? axis(id) : fmt::format("{}, {}", axis(id), name_of(precision));
}

/// A first operand in registers reads like a slot of a channel that has one.
std::string Printer::dot_operand(const DotOperand& o) {
  return o.value != ValueId::none ? value(o.value) : slot(o.slot);
}

/// "a(m at %1, k at %2)"
std::string Printer::load(TensorId tensor, const std::vector<Subscript>& subscripts) {
  return fmt::format("{}({})", p_.tensor(tensor).name,
                     list(subscripts, [this](const Subscript& s) { return subscript(s); }));
}

std::string Printer::subscript(const Subscript& s) {
  return s.axis == AxisId::none ? value(s.value) : axis(s.axis) + optional("at", s.value);
}

/// "%0" of a channel with one slot, "%0[2]", "%0[%9 + 2]", "%0[%9 + 2, mc/m at %4]".
std::string Printer::slot(const Slot& s) {
  bool whole = s.part.of == AxisId::none;
  if (p_.type(s.channel).slots == 1 && s.ticket == ValueId::none && s.offset == 0 && whole)
    return value(s.channel);
  std::string text = value(s.channel) + "[";
  text += s.ticket == ValueId::none ? fmt::format("{}", s.offset)
                                    : fmt::format("{} + {}", value(s.ticket), s.offset);
  if (!whole) text += fmt::format(", {}/{} at {}", axis(s.part.of), axis(s.part.to), value(s.part.index));
  return text + "]";
}

}  // namespace tessera
