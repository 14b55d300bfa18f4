#include "tile_core/dsl/stores.h"

#include <algorithm>
#include <map>

#include "tile_core/base/error.h"
#include "tile_core/dsl/origins.h"
#include "tile_core/dsl/places.h"
#include "tile_core/ir/operands.h"

namespace tessera::dsl {

namespace {

/// Throws where an output takes tiles of both kinds.
void check_one_kind(const Program& program) {
  std::map<TensorId, bool> accumulates;
  for_each_inst(program.body, [&](const Inst& inst) {
    const Store* store = std::get_if<Store>(&inst.op);
    if (store == nullptr) return;
    const auto [first, fresh] = accumulates.try_emplace(store->tensor, store->accumulate);
    if (fresh || first->second == store->accumulate) return;
    const std::string& name = program.tensor(store->tensor).name;
    throw UserError(diagnostic(
        fmt::format("tiles are both added to '{}' and assigned", name), inst.loc,
        "blocks run in any order: an assignment may come before an addition, or after it",
        fmt::format("it starts as 0: write {0}(...) += tile everywhere, or {0}(...) = tile", name)));
  });
}

}  // namespace

void check_stores(const Program& program) {
  check_one_kind(program);
  const Origins origins(program);
  const Places places(program, origins);
  for_each_inst(program.body, [&](const Inst& inst) {
    const Store* store = std::get_if<Store>(&inst.op);
    if (store == nullptr || store->accumulate) return;
    const AxisSet apart = places.told_apart(store->subscripts);
    for (AxisId axis : origins.of_value(store->value)) {
      const AxisInfo& info = program.axis(axis);
      if (info.kind != AxisKind::grid || apart.contains(axis)) continue;
      const bool used = std::any_of(store->subscripts.begin(), store->subscripts.end(),
                                    [&](const Subscript& s) { return origins.of(s).contains(axis); });
      throw UserError(diagnostic(
          fmt::format("blocks along grid axis '{}' store different values to one place of '{}'", info.name,
                      program.tensor(store->tensor).name),
          inst.loc,
          fmt::format(
              "{}:{} runs over {}{}", info.name, info.extent, program.dim(info.dim).name,
              used ? ", and the subscripts made from it are not known to differ from tile to tile" : ""),
          fmt::format("index the output with {0}, or loop over {1} in place of its grid: for (Axis {0} : "
                      "p.pipelined({1}, {2}))",
                      info.name, program.dim(info.dim).name, info.extent)));
    }
  });
}

}  // namespace tessera::dsl
