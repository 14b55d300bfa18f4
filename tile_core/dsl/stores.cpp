#include "tile_core/dsl/stores.h"

#include <map>
#include <set>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"

namespace tessera::dsl {
namespace {

using AxisSet = std::set<AxisId>;

/// Which grid axes the values of a program come from.
class Origins {
 public:
  explicit Origins(const Program& program) : p_(program) { block(program.body); }

  AxisSet of(const std::vector<Subscript>& subscripts) const {
    AxisSet all;
    for (const Subscript& s : subscripts) {
      if (s.axis != AxisId::none) add(all, of_axis(s.axis));
      if (s.value != ValueId::none) add(all, of_value(s.value));
    }
    return all;
  }

  AxisSet of_value(ValueId id) const {
    auto found = values_.find(id);
    return found == values_.end() ? AxisSet() : found->second;
  }

 private:
  static void add(AxisSet& to, const AxisSet& from) { to.insert(from.begin(), from.end()); }

  /// A grid axis is its own; a loop's comes from what bounds it.
  AxisSet of_axis(AxisId axis) const {
    if (p_.axis(axis).kind == AxisKind::grid) return {axis};
    auto found = loops_.find(axis);
    return found == loops_.end() ? AxisSet() : found->second;
  }

  AxisSet of_operands(const Op& op) const {
    AxisSet all;
    for_each_operand(op, [&](ValueId id) { add(all, of_value(id)); });
    if (const Index* index = std::get_if<Index>(&op)) add(all, of_axis(index->axis));
    if (const Start* start = std::get_if<Start>(&op)) add(all, of_axis(start->axis));
    if (const Load* load = std::get_if<Load>(&op)) add(all, of(load->subscripts));
    return all;
  }

  void block(const Block& block) {
    for (const Inst& inst : block.insts) {
      if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
        this->loop(inst, *loop);
      } else {
        for (ValueId id : inst.results) values_[id] = of_operands(inst.op);
      }
    }
  }

  /// What is yielded comes in again, until nothing more comes in.
  void loop(const Inst& inst, const Loop& loop) {
    AxisSet bounds = of_value(loop.begin);
    add(bounds, of_value(loop.end));
    loops_[loop.axis] = bounds;
    for (std::size_t i = 0; i < loop.parameters.size(); ++i) {
      values_[loop.parameters[i]] = of_value(loop.carried[i]);
      add(values_[loop.parameters[i]], bounds);
    }
    for (bool grows = true; grows;) {
      grows = false;
      block(loop.body);
      for (std::size_t i = 0; i < loop.parameters.size(); ++i) {
        AxisSet& origins = values_[loop.parameters[i]];
        const std::size_t before = origins.size();
        add(origins, of_value(loop.body.yields[i]));
        grows = grows || origins.size() > before;
      }
    }
    for (std::size_t i = 0; i < inst.results.size(); ++i)
      values_[inst.results[i]] = of_value(loop.parameters[i]);
  }

  const Program& p_;
  std::map<ValueId, AxisSet> values_;
  std::map<AxisId, AxisSet> loops_;
};

}  // namespace

void check_stores(const Program& program) {
  const Origins origins(program);
  for_each_inst(program.body, [&](const Inst& inst) {
    const Store* store = std::get_if<Store>(&inst.op);
    if (store == nullptr) return;
    const AxisSet places = origins.of(store->subscripts);
    for (AxisId axis : origins.of_value(store->value)) {
      if (places.contains(axis)) continue;
      const AxisInfo& info = program.axis(axis);
      throw UserError(diagnostic(
          fmt::format("blocks along grid axis '{}' store different values to one place of '{}'", info.name,
                      program.tensor(store->tensor).name),
          inst.loc, fmt::format("{}:{} runs over {}", info.name, info.extent, program.dim(info.dim).name),
          fmt::format("index the output with {0}, or loop over {1} in place of its grid: for (Axis {0} : "
                      "p.pipelined({1}, {2}))",
                      info.name, program.dim(info.dim).name, info.extent)));
    }
  });
}

}  // namespace tessera::dsl
