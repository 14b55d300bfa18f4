#include "tile_core/ir/print.h"

#include "tile_core/ir/printer.h"

namespace tessera {

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
  if (type.pending) text += " pending";
  if (type.space == Space::shared) text += " shared";
  if (type.space == Space::registers) text += " registers";
  if (!type.layout.empty()) text += to_text(program, type.layout);
  return text;
}

std::string Printer::run() {
  header();
  block(p_.body, 1);
  text_ += "}\n";
  return std::move(text_);
}

std::string Printer::run(const Inst& inst) {
  run();
  return head(inst);
}

std::string Printer::run(ValueId id) {
  run();
  return value(id);
}

std::string Printer::value(ValueId id) {
  auto [it, fresh] = numbers_.try_emplace(id, static_cast<int>(numbers_.size()));
  return fmt::format("%{}", it->second);
}

void Printer::header() {
  text_ += fmt::format("program {} stage {}", p_.name, name_of(p_.stage));
  if (p_.launch.warps > 0) text_ += fmt::format(" warps {}", p_.launch.warps);
  if (p_.launch.persistent) text_ += " persistent";
  if (p_.launch.counter) text_ += " counter";
  if (p_.launch.shared_bytes > 0) text_ += fmt::format(" shared {}", p_.launch.shared_bytes);
  text_ += " {\n";
  declarations();
}

void Printer::declarations() {
  for (const DimInfo& d : p_.dims) line(1, fmt::format("dim {}", d.name));
  for (const AxisInfo& a : p_.axes) {
    std::string of = a.kind == AxisKind::warps ? "" : " " + dim(a.dim);
    line(1, fmt::format("axis {}:{} {}{}", a.name, a.extent, name_of(a.kind), of));
  }
  for (const TensorDecl& t : p_.tensors) {
    std::string dims = list(t.dims, [this](DimId d) { return dim(d); });
    line(1, fmt::format("{} {}: {}({})", t.output ? "out" : "in", t.name, name_of(t.dtype), dims));
  }
  for (const ScalarDecl& s : p_.scalars) line(1, fmt::format("scalar {}: {}", s.name, name_of(s.dtype)));
  if (p_.grid.empty()) return;
  const Cluster& cluster = p_.launch.cluster;
  std::string of =
      cluster.alone() ? "" : fmt::format(" cluster {} along {}", cluster.blocks, axis(cluster.axis));
  line(1, "grid " + list(p_.grid, [this](AxisId a) { return axis(a); }) + of);
}

void Printer::line(int depth, const std::string& text) {
  text_ += std::string(2 * static_cast<std::size_t>(depth), ' ') + text + "\n";
}

void Printer::block(const Block& b, int depth) {
  for (const Inst& inst : b.insts) instruction(inst, depth);
  if (!b.yields.empty()) line(depth, "yield " + values(b.yields));
}

void Printer::instruction(const Inst& inst, int depth) {
  const Loop* loop = std::get_if<Loop>(&inst.op);
  const If* conditional = std::get_if<If>(&inst.op);
  const Roles* split = std::get_if<Roles>(&inst.op);
  bool blocks = loop != nullptr || conditional != nullptr || split != nullptr;
  line(depth, blocks ? head(inst) + " {" : head(inst));
  if (loop != nullptr) block(loop->body, depth + 1);
  if (conditional != nullptr) branch(*conditional, depth);
  if (split != nullptr) roles(*split, depth + 1);
  if (blocks) line(depth, inst.results.empty() ? "}" : "} results " + values(inst.results));
}

void Printer::branch(const If& o, int depth) {
  block(o.then, depth + 1);
  if (o.otherwise == Block{}) return;
  line(depth, "} else {");
  block(o.otherwise, depth + 1);
}

void Printer::roles(const Roles& o, int depth) {
  for (const Role& role : o.roles) {
    line(depth, role_head(role) + " {");
    block(role.body, depth + 1);
    line(depth, "}");
  }
}

std::string Printer::role_head(const Role& role) {
  std::string text = fmt::format("role warps {}", role.warps);
  if (role.instances != 1) text += fmt::format(" instances {}", role.instances);
  if (role.registers > 0) text += fmt::format(" registers {}", role.registers);
  if (role.elected) text += " elected";
  return text + optional("instance", role.instance);
}

std::string Printer::head(const Inst& inst) {
  if (const Loop* loop = std::get_if<Loop>(&inst.op)) return loop_head(*loop);
  std::string text = operation(inst.op);  // before the results: operands are numbered first
  if (inst.results.empty() || std::holds_alternative<If>(inst.op)) return text;
  return list(inst.results,
              [this](ValueId id) { return fmt::format("{}: {}", value(id), to_text(p_, p_.type(id))); }) +
         " = " + text;
}

std::string Printer::loop_head(const Loop& o) {
  std::string text = fmt::format("{} {} from {} until {}", o.pipelined ? "pipelined" : "sequential",
                                 axis(o.axis), value(o.begin), value(o.end));
  text += optional("step", o.step);
  text += optional("start", o.start);
  text += optional("ticket", o.ticket) + optional("after", o.first_ticket);
  std::string carried;
  for (std::size_t i = 0; i < o.carried.size(); ++i) {
    carried += fmt::format("{}{}: {} = {}", i > 0 ? ", " : "", value(o.parameters[i]),
                           to_text(p_, p_.type(o.parameters[i])), value(o.carried[i]));
  }
  return carried.empty() ? text : fmt::format("{} carry ({})", text, carried);
}

}  // namespace tessera
