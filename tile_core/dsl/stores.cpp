#include "tile_core/dsl/stores.h"

#include <algorithm>
#include <map>
#include <vector>

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

/// Of two stores to one output the later one counts, and nobody says which that is: threads and blocks run in
/// any order.
void check_pairs(const Program& program, const Places& places) {
  std::map<TensorId, std::vector<const Inst*>> stores;
  for_each_inst(program.body, [&](const Inst& inst) {
    const Store* store = std::get_if<Store>(&inst.op);
    if (store == nullptr || store->accumulate) return;
    for (const Inst* other : stores[store->tensor]) {
      if (places.never_meet(std::get<Store>(other->op).subscripts, store->subscripts)) continue;
      const std::string& name = program.tensor(store->tensor).name;
      throw UserError(diagnostic(
          fmt::format("two stores to '{}' may meet in one place", name), inst.loc,
          fmt::format(
              "the other is at {}:{}; threads and blocks store in any order, and no subscripts of one "
              "dim are known to differ always",
              other->loc.file, other->loc.line),
          fmt::format(
              "store one tile (where() joins two), or to two outputs, or with different numbers along "
              "a dim, as in {0}(..., 0) = and {0}(..., 1) =",
              name)));
    }
    stores[store->tensor].push_back(&inst);
  });
}

}  // namespace

void check_stores(const Program& program) {
  check_one_kind(program);
  const Origins origins(program);
  const Places places(program, origins);
  check_pairs(program, places);
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
