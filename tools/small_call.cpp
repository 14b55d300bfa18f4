#include "tools/small_call.h"

#include <algorithm>

#include "tile_core/ir/operands.h"

namespace tessera::tools {
namespace {

constexpr int kTiles = 2, kSteps = 3, kMoreThanSlots = 2;

int most_slots(const Program& program) {
  int most = 1;
  for (const Type& type : program.types) most = std::max(most, type.slots);
  return most;
}

/// Tiles of an axis that the small problem has.
int tiles(const Program& program, AxisId id) {
  const bool persistent = program.launch.persistent;
  if (program.axis(id).kind == AxisKind::loop)
    return persistent ? kSteps : most_slots(program) + kMoreThanSlots;
  return persistent && !program.grid.empty() && id == program.grid.back() ? kTiles : 1;
}

}  // namespace

Sizes small_sizes(const Program& program, const Sizes& call) {
  Sizes sizes;
  for (const DimInfo& dim : program.dims) sizes[dim.name] = 1;
  for (std::size_t i = 0; i < program.axes.size(); ++i) {
    const AxisInfo& axis = program.axes[i];
    if (axis.kind == AxisKind::part || axis.kind == AxisKind::warps) continue;
    std::int64_t& size = sizes[program.dim(axis.dim).name];
    const auto id = static_cast<AxisId>(i);
    size = std::max(size, std::int64_t{program.cluster_lanes(id)} * tiles(program, id));
  }
  for (auto& [name, size] : sizes) {
    const auto found = call.find(name);
    if (found != call.end()) size = std::min(size, found->second);
  }
  return sizes;
}

std::vector<Buffer> zeros(const Program& program, const Sizes& sizes) {
  std::vector<Buffer> tensors;
  for (const TensorDecl& tensor : program.tensors) {
    std::vector<std::int64_t> extents;
    for (DimId dim : tensor.dims) extents.push_back(sizes.at(program.dim(dim).name));
    tensors.emplace_back(tensor.dtype, extents);
  }
  return tensors;
}

}  // namespace tessera::tools
