#include "tile_core/codegen/emitter.h"
#include "tile_core/ir/stepping.h"

// Where the copies of a loop's body read: pointers that the loop carries.
namespace tessera::codegen {

/// Of a value that is the same in all iterations: numbers of the body have no name yet.
std::string Emitter::name_before_loop(ValueId id) const {
  const auto* number = std::get_if<Constant>(&uses_.definer(id).op);
  return number != nullptr ? literal(i64, number->value) : name(id);
}

/// A multiplication of 64 bits in each iteration costs more than a pointer that is carried. Not of copies
/// through registers: those have none to spare.
void Emitter::declare_sources(const Inst& inst) {
  const auto& loop = std::get<Loop>(inst.op);
  for (const Inst& inner : loop.body.insts) {
    const auto* copy = std::get_if<CopyIn>(&inner.op);
    if (copy == nullptr || copy->kind != CopyKind::async) continue;
    const Layout layout = copied_rows(*copy);
    const std::optional<Stepping> stepping = stepping_in(inst, copy->load, uses_);
    if (layout.empty() || !stepping) continue;
    const Load& load = copy->load;
    std::vector<std::string> starts;
    for (std::size_t i = 0; i < load.subscripts.size(); ++i)
      starts.push_back(i == stepping->subscript
                           ? fmt::format("({} + int64({}))", name(loop.begin), stepping->ahead)
                           : name_before_loop(load.subscripts[i].value));
    const std::string step =
        loop.step != ValueId::none ? name(loop.step) : fmt::format("int64({})", p_.axis(loop.axis).extent);
    const Source source{.pointer = fmt::format("source_{}", sources_.size()),
                        .step = step + stride(load.tensor, stepping->subscript)};
    line("const {}* {} = p.data_{} + ({});", c_type(p_.type(copy->to.channel).dtype), source.pointer,
         p_.tensor(load.tensor).name, base_of(load.tensor, load.subscripts, layout, starts));
    sources_.emplace(copy, source);
  }
}

}  // namespace tessera::codegen
