#include "tile_core/ir/program.h"

#include <algorithm>
#include <array>

#include "tile_core/ir/operands.h"

namespace tessera {

bool Type::has(AxisId axis) const {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

ValueId Program::new_value(Type type) {
  types.push_back(std::move(type));
  return static_cast<ValueId>(types.size() - 1);
}

AxisId Program::new_axis(AxisInfo info) {
  axes.push_back(std::move(info));
  return static_cast<AxisId>(axes.size() - 1);
}

Op walker_index(const Cluster& cluster) {
  return cluster.alone() ? Op(BlockIndex{}) : Op(ClusterIndex{});
}

Op walker_count(const Cluster& cluster) {
  return cluster.alone() ? Op(BlockCount{}) : Op(ClusterCount{});
}

const char* name_of(Stage stage) {
  constexpr std::array kNames = {"tile",  "mapped", "masked", "placed", "laid_out",
                                 "roled", "device", "synced", "ready"};
  return kNames.at(static_cast<std::size_t>(stage));
}

const char* name_of(AxisKind kind) {
  constexpr std::array kNames = {"grid", "all", "loop", "part", "warps"};
  return kNames.at(static_cast<std::size_t>(kind));
}

const std::vector<Role>& roles_of(const Program& program) {
  static const std::vector<Role> kNone;
  return has_roles(program) ? std::get<Roles>(program.body.insts.back().op).roles : kNone;
}

bool uses_mma(const Program& program) {
  return any_inst(program.body, [](const Inst& inst) {
    const DotShared* dot = std::get_if<DotShared>(&inst.op);
    return dot != nullptr && dot->mma;
  });
}

bool accumulates_into(const Program& program, TensorId tensor) {
  return any_inst(program.body, [&](const Inst& inst) {
    const Store* store = std::get_if<Store>(&inst.op);
    const CopyOut* copy = std::get_if<CopyOut>(&inst.op);
    return (store != nullptr && store->accumulate && store->tensor == tensor) ||
           (copy != nullptr && copy->accumulate && copy->tensor == tensor);
  });
}

std::int64_t elements(const Program& program, const Type& type) {
  std::int64_t count = 1;
  for (AxisId axis : type.axes) count *= program.axis(axis).extent;
  return count;
}

}  // namespace tessera
