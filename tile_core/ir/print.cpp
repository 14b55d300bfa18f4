#include "tile_core/ir/print.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "tile_core/base/match.h"

namespace tessera {
namespace {

std::string literal(double value) {
  bool whole = std::abs(value) < 1e15 && value == std::trunc(value) && !(value == 0 && std::signbit(value));
  if (whole) return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

/// Prints one program; numbers values as it meets their definitions.
class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {}

  std::string run() {
    header();
    block(p_.body, 1);
    text_ += "}\n";
    return std::move(text_);
  }

  /// One instruction with the numbers of the whole text; of a loop, the line that opens it.
  std::string run(const Inst& inst) {
    run();
    return head(inst);
  }

  std::string run(ValueId id) {
    run();
    return value(id);
  }

 private:
  std::string axis(AxisId id) const { return id == AxisId::none ? "*" : p_.axis(id).name; }
  std::string dim(DimId id) const { return p_.dim(id).name; }

  std::string value(ValueId id) {
    auto [it, fresh] = numbers_.try_emplace(id, static_cast<int>(numbers_.size()));
    return fmt::format("%{}", it->second);
  }

  std::string values(const std::vector<ValueId>& ids) {
    std::vector<std::string> names;
    for (ValueId id : ids) names.push_back(value(id));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  std::string subscripts(const std::vector<Subscript>& list) {
    std::vector<std::string> names;
    for (const Subscript& s : list) {
      if (s.axis == AxisId::none) {
        names.push_back(value(s.value));
      } else {
        names.push_back(s.value == ValueId::none ? axis(s.axis)
                                                 : fmt::format("{} at {}", axis(s.axis), value(s.value)));
      }
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  std::string load(const Load& o) {
    return fmt::format("{}({})", p_.tensor(o.tensor).name, subscripts(o.subscripts));
  }

  std::string slot(const Slot& s) {
    if (p_.type(s.channel).slots == 1) return value(s.channel);
    if (s.ticket == ValueId::none) return fmt::format("{}[{}]", value(s.channel), s.offset);
    return fmt::format("{}[{} + {}]", value(s.channel), value(s.ticket), s.offset);
  }

  void header() {
    text_ += fmt::format("program {} stage {}", p_.name, name_of(p_.stage));
    if (p_.launch.warps > 0) text_ += fmt::format(" warps {}", p_.launch.warps);
    if (p_.launch.shared_bytes > 0) text_ += fmt::format(" shared {}", p_.launch.shared_bytes);
    text_ += " {\n";
    for (const DimInfo& d : p_.dims) text_ += fmt::format("  dim {}\n", d.name);
    for (const AxisInfo& a : p_.axes) {
      text_ += fmt::format("  axis {}:{} {}", a.name, a.extent, name_of(a.kind));
      text_ += a.kind == AxisKind::warps ? "\n" : fmt::format(" {}\n", dim(a.dim));
    }
    for (const TensorDecl& t : p_.tensors) {
      std::vector<std::string> names;
      for (DimId d : t.dims) names.push_back(dim(d));
      text_ += fmt::format("  {} {}: {}({})\n", t.output ? "out" : "in", t.name, name_of(t.dtype),
                           fmt::join(names, ", "));
    }
    for (const ScalarDecl& s : p_.scalars)
      text_ += fmt::format("  scalar {}: {}\n", s.name, name_of(s.dtype));
    if (!p_.grid.empty()) {
      std::vector<std::string> names;
      for (AxisId a : p_.grid) names.push_back(axis(a));
      text_ += fmt::format("  grid {}\n", fmt::join(names, ", "));
    }
  }

  void block(const Block& b, int depth) {
    for (const Inst& inst : b.insts) instruction(inst, depth);
    if (!b.yields.empty()) line(depth, fmt::format("yield {}", values(b.yields)));
  }

  void line(int depth, const std::string& text) {
    text_ += std::string(2 * static_cast<std::size_t>(depth), ' ') + text + "\n";
  }

  void instruction(const Inst& inst, int depth) {
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr) return line(depth, head(inst));
    line(depth, head(inst) + " {");
    block(loop->body, depth + 1);
    line(depth, inst.results.empty() ? "}" : fmt::format("}} results {}", values(inst.results)));
  }

  std::string head(const Inst& inst) {
    if (const Loop* loop = std::get_if<Loop>(&inst.op)) return loop_head(*loop);
    std::string text = operation(inst.op);  // before the result: operands are numbered first
    if (inst.results.empty()) return text;
    return fmt::format("{}: {} = {}", value(inst.result()), to_text(p_, p_.type(inst.result())), text);
  }

  std::string loop_head(const Loop& o) {
    std::string text = fmt::format("{} {} from {} until {}", o.pipelined ? "pipelined" : "sequential",
                                   axis(o.axis), value(o.begin), value(o.end));
    std::vector<std::string> carried;
    for (ValueId id : o.carried) carried.push_back(value(id));
    if (o.start != ValueId::none) text += fmt::format(" start {}", value(o.start));
    if (o.ticket != ValueId::none) text += fmt::format(" ticket {}", value(o.ticket));
    if (!carried.empty()) {
      std::vector<std::string> entries;
      for (std::size_t i = 0; i < carried.size(); ++i) {
        entries.push_back(fmt::format("{}: {} = {}", value(o.parameters[i]),
                                      to_text(p_, p_.type(o.parameters[i])), carried[i]));
      }
      text += fmt::format(" carry ({})", fmt::join(entries, ", "));
    }
    return text;
  }

  std::string operation(const Op& op) {
    return match(
        op, [&](const Constant& o) { return fmt::format("constant {}", literal(o.value)); },
        [&](const Scalar& o) { return fmt::format("scalar {}", p_.scalars.at(index_of(o.scalar)).name); },
        [&](const Size& o) { return fmt::format("size {}", dim(o.dim)); },
        [&](const Index& o) {
          return o.start == ValueId::none ? fmt::format("index {}", axis(o.axis))
                                          : fmt::format("index {} at {}", axis(o.axis), value(o.start));
        },
        [&](const Start& o) { return fmt::format("start {}", axis(o.axis)); },
        [&](const BlockIndex&) { return std::string("block_index"); },
        [&](const Broadcast& o) { return fmt::format("broadcast {}", value(o.a)); },
        [&](const Unary& o) { return fmt::format("{} {}", name_of(o.fn), value(o.a)); },
        [&](const Binary& o) { return fmt::format("{} {}, {}", name_of(o.fn), value(o.a), value(o.b)); },
        [&](const Select& o) {
          return fmt::format("select {}, {}, {}", value(o.condition), value(o.a), value(o.b));
        },
        [&](const Cast& o) { return fmt::format("cast {}", value(o.a)); },
        [&](const Reduce& o) {
          return fmt::format("reduce_{}<{}> {}", name_of(o.fn), axis(o.axis), value(o.a));
        },
        [&](const Dot& o) {
          std::string text = fmt::format("dot<{}> {}, {}", axis(o.axis), value(o.a), value(o.b));
          return o.accumulator == ValueId::none ? text
                                                : fmt::format("{} onto {}", text, value(o.accumulator));
        },
        [&](const Load& o) { return "load " + load(o); },
        [&](const Store& o) {
          return fmt::format("store {}({}), {}", p_.tensor(o.tensor).name, subscripts(o.subscripts),
                             value(o.value));
        },
        [&](const Loop&) { return std::string(); },
        [&](const Convert& o) { return fmt::format("convert {}", value(o.a)); },
        [&](const Channel& o) { return channel(o); },
        [&](const CopyIn& o) {
          return fmt::format("{} {} to {} vector {}", o.async ? "copy_async" : "copy", load(o.load),
                             slot(o.to), o.vector);
        },
        [&](const CommitCopies&) { return std::string("commit_copies"); },
        [&](const WaitCopies& o) { return fmt::format("wait_copies {}", o.pending); },
        [&](const Barrier&) { return std::string("barrier"); },
        [&](const WriteShared& o) { return fmt::format("write_shared {}, {}", slot(o.to), value(o.value)); },
        [&](const ReadShared& o) { return fmt::format("read_shared {}", slot(o.from)); },
        [&](const DotShared& o) {
          return fmt::format("dot_shared<{}> {}, {} onto {}", axis(o.axis), slot(o.a), slot(o.b),
                             value(o.accumulator));
        },
        [&](const ReduceWarp& o) {
          return fmt::format("reduce_warp_{}<{}> {} to {}", name_of(o.fn), axis(o.axis), value(o.a),
                             axis(o.warps));
        });
  }

  std::string channel(const Channel& o) {
    std::vector<std::string> names;
    for (AxisId a : o.order) names.push_back(axis(a));
    std::string text = fmt::format("channel order ({}) pitch {}", fmt::join(names, ", "), o.pitch);
    return o.offset < 0 ? text : fmt::format("{} offset {}", text, o.offset);
  }

  const Program& p_;
  std::map<ValueId, int> numbers_;
  std::string text_;
};

}  // namespace

std::string to_text(const Program& program) {
  return Printer(program).run();
}

std::string to_text(const Program& program, const Inst& inst) {
  return Printer(program).run(inst);
}

std::string name_of(const Program& program, ValueId id) {
  return Printer(program).run(id);
}

std::string to_text(const Program& program, const Layout& layout) {
  std::vector<std::string> parts;
  for (const Repeat& r : layout.repeats()) {
    const char* place = r.place == Place::reg ? "reg" : r.place == Place::lane ? "lane" : "warp";
    std::string axis = r.axis == AxisId::none ? "*" : program.axis(r.axis).name;
    parts.push_back(fmt::format("{} {}:{}x{}", place, axis, r.count, r.stride));
  }
  return fmt::format("<{}>", fmt::join(parts, ", "));
}

std::string to_text(const Program& program, const Type& type) {
  std::vector<std::string> axes;
  for (AxisId a : type.axes)
    axes.push_back(fmt::format("{}:{}", program.axis(a).name, program.axis(a).extent));
  std::string text = std::string(name_of(type.dtype));
  if (!axes.empty()) text += fmt::format("[{}]", fmt::join(axes, ", "));
  if (type.is_channel()) return fmt::format("{} x {}", text, type.slots);
  if (type.space == Space::shared) text += " shared";
  if (type.space == Space::registers) text += " registers";
  if (!type.layout.empty()) text += to_text(program, type.layout);
  return text;
}

}  // namespace tessera
