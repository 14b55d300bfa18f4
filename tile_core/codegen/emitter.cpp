#include "tile_core/codegen/emitter.h"

#include <utility>

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

Emitter::Emitter(const Program& program, const Facts& facts, const Schedule& schedule)
    : p_(program),
      facts_(facts),
      schedule_(schedule),
      protocols_(protocols(program)),
      uses_(program),
      lifetimes_(program),
      groups_(program),
      early_(early_reads(program)) {}

std::string Emitter::body() {
  block(p_.body);
  begin(std::exchange(text_, ""));
  return std::move(text_);
}

std::string Emitter::declarations() const {
  std::string text;
  for (const auto& [name, declaration] : dots_) text += declaration;
  return text;
}

void Emitter::fail(const std::string& what) const {
  throw InternalError::format("codegen: '{}': {}", p_.name, what);
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
  if (auto it = names_.find(id); it != names_.end()) return it->second;  // it outlives its block
  std::string text = fmt::format("v{}", index_of(id));
  names_[id] = text;
  arrays_[text] = {id};
  if (is_tile(id)) line("{} {}[{}];", c_type(p_.type(id).dtype), text, registers(id));
  return text;
}

std::string Emitter::element(ValueId operand, const Layout& of, const std::string& r) const {
  if (!is_tile(operand)) return name(operand);
  return fmt::format("{}[{}]", name(operand), register_index(of, p_.type(operand).layout, r));
}

int Emitter::threads() const {
  return 32 * (role_ == nullptr ? p_.launch.warps : role_->warps);
}

void Emitter::block(const Block& block) {
  instructions(block.insts);
}

void Emitter::instructions(std::span<const Inst> insts) {
  for (const Inst& inst : insts) {
    if (inst.loc.line > 0) text_ += fmt::format("#line {} \"{}\"\n", inst.loc.line, inst.loc.file);
    instruction(inst);
  }
}

void Emitter::instruction(const Inst& inst) {
  auto never = [&](const char* what) { fail(fmt::format("{} at Stage::ready", what)); };
  auto value = [&](const auto&) { emit_value(inst); };
  match(
      inst.op, [&](const Constant& o) { value(o); }, [&](const Scalar& o) { value(o); },
      [&](const Size& o) { value(o); }, [&](const Index& o) { value(o); }, [&](const End& o) { value(o); },
      [&](const BlockIndex& o) { value(o); }, [&](const BlockCount& o) { value(o); },
      [&](const ClusterIndex& o) { value(o); }, [&](const ClusterCount& o) { value(o); },
      [&](const ClusterRank& o) { value(o); }, [&](const Undefined&) { declare_undefined(inst.result()); },
      [&](const Broadcast& o) { value(o); }, [&](const Slice& o) { emit_slice(inst, o); },
      [&](const Unary& o) { value(o); }, [&](const Binary& o) { value(o); }, [&](const Fma& o) { value(o); },
      [&](const Select& o) { value(o); }, [&](const Cast& o) { emit_cast(inst, o); },
      [&](const Start&) { never("start"); }, [&](const Dot&) { never("dot"); },
      [&](const Convert&) { never("convert"); }, [&](const View&) { never("view"); },
      [&](const Reduce& o) { emit_reduce(inst, o.fn, o.a, o.axis); },
      [&](const ReduceWarp& o) { emit_reduce(inst, o.fn, o.a, o.axis); },
      [&](const Load& o) { emit_load(inst, o); }, [&](const Store& o) { emit_store(o); },
      [&](const Loop& o) { loop(inst, o); }, [&](const If& o) { branch(inst, o); },
      [&](const Roles& o) { emit_roles(o); }, [&](const Channel& o) { channels_[inst.result()] = o; },
      [&](const CopyIn& o) { o.kind == CopyKind::bulk ? emit_copy_bulk(o) : emit_copy(o); },
      [&](const CommitCopies&) { line("commit_copies();"); },
      [&](const WaitCopies& o) { line("wait_copies<{}>();", o.pending); },
      [&](const Barrier&) { emit_barrier(); }, [&](const PassSlot& o) { emit_pass(o); },
      [&](const WriteShared& o) { emit_write_shared(o); },
      [&](const ReadShared& o) { emit_read_shared(inst, o); },
      [&](const FenceShared&) { line("fence_shared();"); }, [&](const CopyOut& o) { emit_copy_out(o); },
      [&](const CommitStores&) { emit_by_leader("commit_stores();"); },
      [&](const WaitStores& o) { emit_by_leader(fmt::format("wait_stores<{}>();", o.pending)); },
      [&](const DotShared& o) { o.mma ? emit_mma(inst, o) : emit_dot(inst, o); },
      [&](const IssueDot& o) { emit_issue(inst, o); }, [&](const FenceDots&) { emit_fence_dots(inst); },
      [&](const CommitDots&) { line("commit_dots();"); }, [&](const WaitDots& o) { emit_wait_dots(inst, o); },
      [&](const TakeTurn&) { emit_turn(true); }, [&](const PassTurn&) { emit_turn(false); },
      [&](const DrawTile& o) {
        line("const int64 {} = draw_tile(&counters[p.counter], static_cast<unsigned>({}));",
             declare(inst.result()), name(o.tiles));
      });
}

}  // namespace tessera::codegen
