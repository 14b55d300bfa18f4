#include <algorithm>

#include "tile_core/ir/rewrite.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/passes.h"
#include "tile_core/passes/warp_dots.h"

namespace tessera {
namespace {

class PlaceTiles {
 public:
  PlaceTiles(const Program& program, const PassContext& context)
      : program_(program), context_(context), uses_(program), path_(dot_path_of(program, context)) {}

  bool operator()(Rewriter& r, const Inst& inst) const {
    const Dot* dot = std::get_if<Dot>(&inst.op);
    if (dot == nullptr) return false;
    Dot placed = std::get<Dot>(r.map(inst.op));
    if (!takes_registers(*dot)) placed.a = in_shared(r, dot->a, placed.a, inst.loc);
    placed.b = in_shared(r, dot->b, placed.b, inst.loc);
    r.replace(inst.result(), r.emit(placed, program_.type(inst.result()), inst.loc));
    return true;
  }

  /// A load whose only users are dots, as operands to multiply.
  bool only_multiplied(ValueId id) const {
    if (!std::holds_alternative<Load>(uses_.definer(id).op)) return false;
    const auto& users = uses_.users(id);
    return !users.empty() && std::all_of(users.begin(), users.end(), [&](const Inst* user) {
      const Dot* dot = std::get_if<Dot>(&user->op);
      return dot != nullptr && dot->accumulator != id;
    });
  }

 private:
  /// As its first operand.
  bool takes_registers(const Dot& dot) const {
    return path_ == DotPath::wgmma ||
           (path_ == DotPath::mma && multiplies_registers(program_, context_, dot));
  }

  ValueId in_shared(Rewriter& r, ValueId old, ValueId now, Loc loc) const {
    if (only_multiplied(old)) return now;
    Type type = program_.type(old);
    type.space = Space::shared;
    return r.emit(Convert{now}, std::move(type), loc);
  }

  const Program& program_;
  const PassContext& context_;
  Uses uses_;
  DotPath path_;
};

}  // namespace

Program place_tiles(const Program& in, const PassContext& context) {
  Program marked = in;
  PlaceTiles place(in, context);
  for (std::size_t i = 0; i < marked.types.size(); ++i) {
    Type& type = marked.types[i];
    if (!type.axes.empty())
      type.space = place.only_multiplied(static_cast<ValueId>(i)) ? Space::shared : Space::registers;
  }
  return rewrite(marked, PlaceTiles(marked, context));
}

}  // namespace tessera
