#include "tile_core/codegen/emitter.h"

#include <algorithm>

#include "tile_core/base/error.h"
#include "tile_core/base/match.h"
#include "tile_core/codegen/registers.h"

namespace tessera::codegen {

std::string c_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "bool";
    case DType::i32:
      return "int";
    case DType::i64:
      return "int64";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::f32:
      return "float";
  }
  throw InternalError::format("codegen: no C type for dtype {}", static_cast<int>(dtype));
}

std::string Emitter::body() {
  line("const int thread = thread_index();");
  line("const int lane = thread % 32, warp = thread / 32;");
  if (p_.launch.shared_bytes > 0) line("TESSERA_SHARED(shared);");
  block(p_.body);
  return std::move(text_);
}

void Emitter::append(const std::string& text) {
  text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + text + "\n";
}

void Emitter::open_registers(int count, int step) {
  text_ += "#pragma unroll\n";
  open(step == 1 ? fmt::format("for (int r = 0; r < {}; ++r)", count)
                 : fmt::format("for (int r = 0; r < {}; r += {})", count, step));
}

std::string Emitter::name(ValueId id) const {
  auto it = names_.find(id);
  if (it == names_.end())
    throw InternalError::format("codegen: value {} of '{}' has no name", index_of(id), p_.name);
  return it->second;
}

std::string Emitter::declare(ValueId id) {
  std::string text = fmt::format("v{}", index_of(id));
  names_[id] = text;
  if (is_tile(id)) line("{} {}[{}];", c_type(p_.type(id).dtype), text, registers(id));
  return text;
}

std::string Emitter::element(ValueId operand, const Layout& of) const {
  if (!is_tile(operand)) return name(operand);
  return fmt::format("{}[{}]", name(operand), register_index(of, p_.type(operand).layout, "r"));
}

int Emitter::threads() const {
  return p_.launch.warps * 32;
}

void Emitter::block(const Block& block) {
  for (const Inst& inst : block.insts) {
    if (inst.loc.line > 0) text_ += fmt::format("#line {} \"{}\"\n", inst.loc.line, inst.loc.file);
    instruction(inst);
  }
}

void Emitter::instruction(const Inst& inst) {
  auto never = [&](const char* what) {
    throw InternalError::format("codegen: {} in '{}' at Stage::ready", what, p_.name);
  };
  auto value = [&](const auto&) { emit_value(inst); };
  match(
      inst.op, [&](const Constant& o) { value(o); }, [&](const Scalar& o) { value(o); },
      [&](const Size& o) { value(o); }, [&](const Index& o) { value(o); },
      [&](const BlockIndex& o) { value(o); }, [&](const Broadcast& o) { value(o); },
      [&](const Unary& o) { value(o); }, [&](const Binary& o) { value(o); },
      [&](const Select& o) { value(o); }, [&](const Cast& o) { value(o); },
      [&](const Start&) { never("start"); }, [&](const Dot&) { never("dot"); },
      [&](const Convert&) { never("convert"); },
      [&](const Reduce& o) { emit_reduce(inst, o.fn, o.a, o.axis); },
      [&](const ReduceWarp& o) { emit_reduce(inst, o.fn, o.a, o.axis); },
      [&](const Load& o) { emit_load(inst, o); }, [&](const Store& o) { emit_store(o); },
      [&](const Loop& o) { loop(inst, o); }, [&](const Channel& o) { channels_[inst.result()] = o; },
      [&](const CopyIn& o) { emit_copy(o); }, [&](const CommitCopies&) { line("commit_copies();"); },
      [&](const WaitCopies& o) { line("wait_copies<{}>();", o.pending); },
      [&](const Barrier&) { line("barrier();"); }, [&](const WriteShared& o) { emit_write_shared(o); },
      [&](const ReadShared& o) { emit_read_shared(inst, o); },
      [&](const DotShared& o) { emit_dot(inst, o); });
}

void Emitter::assign(const std::string& to, ValueId like, const std::string& from) {
  if (!is_tile(like)) return line("{} = {};", to, from);
  open_registers(registers(like));
  line("{}[r] = {}[r];", to, from);
  close();
}

/// The yields become the parameters of the next iteration. A parameter that is yielded is copied before any
/// changes.
void Emitter::hand_over(const Loop& o) {
  std::vector<std::string> from;
  for (ValueId id : o.body.yields) {
    from.push_back(name(id));
    if (std::find(o.parameters.begin(), o.parameters.end(), id) == o.parameters.end()) continue;
    from.back() = fmt::format("kept_{}_{}", name(id), from.size());
    line("{} {}{};", c_type(p_.type(id).dtype), from.back(),
         is_tile(id) ? fmt::format("[{}]", registers(id)) : "");
    assign(from.back(), id, name(id));
  }
  for (std::size_t i = 0; i < from.size(); ++i) assign(name(o.parameters[i]), o.parameters[i], from[i]);
}

/// What a loop carries lives in the arrays of its parameters, which are its results too.
void Emitter::loop(const Inst& inst, const Loop& o) {
  for (std::size_t i = 0; i < o.parameters.size(); ++i) {
    std::string parameter = declare(o.parameters[i]);
    if (!is_tile(o.parameters[i])) line("{} {};", c_type(p_.type(o.parameters[i]).dtype), parameter);
    assign(parameter, o.carried[i], name(o.carried[i]));
    names_[inst.results[i]] = parameter;
  }
  if (o.ticket != ValueId::none) line("unsigned {} = 0;", declare(o.ticket));
  std::string start = declare(o.start);
  text_ += "#pragma unroll 1\n";
  open(fmt::format("for (int64 {0} = {1}; {0} < {2}; {0} += {3})", start, name(o.begin), name(o.end),
                   p_.axis(o.axis).extent));
  block(o.body);
  hand_over(o);
  if (o.ticket != ValueId::none) line("++{};", name(o.ticket));
  close();
}

}  // namespace tessera::codegen
