#include "tile_core/interpreter/run.h"

#include <algorithm>
#include <limits>

#include "tile_core/base/error.h"

namespace tessera::interpreter {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();

}  // namespace

const std::vector<int>& Alignments::get(const std::vector<AxisId>& to, const std::vector<AxisId>& from) {
  auto [found, fresh] = cache_.try_emplace({to, from});
  std::vector<int>& index = found->second;
  if (!fresh) return index;
  index = {0};
  for (AxisId axis : to) {
    int step = std::find(from.begin(), from.end(), axis) == from.end() ? 0 : stride(from, axis);
    std::vector<int> next;
    for (int base : index) {
      for (int lane = 0; lane < program_.axis(axis).extent; ++lane) next.push_back(base + lane * step);
    }
    index = std::move(next);
  }
  return index;
}

std::vector<int> Alignments::get(const std::vector<AxisId>& to, const std::vector<AxisId>& from,
                                 const Section& section) {
  std::vector<int> index = get(to, from);
  if (section.of == AxisId::none) return index;
  const std::vector<int>& lane = get(to, {section.to});
  auto first = static_cast<int>(section.index) * program_.axis(section.to).extent;
  int step = stride(from, section.of);
  for (std::size_t i = 0; i < index.size(); ++i) index[i] += (first + lane[i]) * step;
  return index;
}

int Alignments::stride(const std::vector<AxisId>& axes, AxisId axis) const {
  int stride = 1;
  for (auto faster = axes.rbegin(); faster != axes.rend() && *faster != axis; ++faster)
    stride *= program_.axis(*faster).extent;
  return stride;
}

Run::Run(const Program& p, std::vector<TensorView> given, std::vector<double> numbers, std::int64_t resident)
    : program(p),
      tensors(std::move(given)),
      scalars(std::move(numbers)),
      sizes(p.dims.size(), kUnknown),
      alignments(p),
      resident_(resident) {
  if (tensors.size() != p.tensors.size() || scalars.size() != p.scalars.size()) {
    throw UserError::format("program {}: expected {} tensors and {} scalars, but got {} and {}", p.name,
                            p.tensors.size(), p.scalars.size(), tensors.size(), scalars.size());
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) bind(p.tensors[i], tensors[i]);
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const ScalarDecl& declared = p.scalars[i];
    if (is_float(declared.dtype) || holds(declared.dtype, scalars[i])) continue;
    throw UserError::format("program {}: expected scalar '{}' to be {}, but got {}", p.name, declared.name,
                            name_of(declared.dtype), scalars[i]);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == kUnknown)
      throw UserError::format("program {}: dim {} is of no tensor, so it has no size", p.name,
                              p.dims[i].name);
  }
  for (const AxisInfo& axis : p.axes) {
    if (axis.kind != AxisKind::all || sizes[index_of(axis.dim)] <= axis.extent) continue;
    throw UserError::format(
        "program {}: one tile of {} covers {}, but its size is {}; choose a larger tile, or loop over the "
        "dim",
        p.name, axis.extent, p.dim(axis.dim).name, sizes[index_of(axis.dim)]);
  }
}

void Run::bind(const TensorDecl& declared, const TensorView& view) {
  auto rank = static_cast<int>(declared.dims.size());
  if (view.dtype != declared.dtype || view.rank != rank) {
    throw UserError::format("program {}: expected '{}' to be {} of rank {}, but got {} of rank {}",
                            program.name, declared.name, name_of(declared.dtype), rank, name_of(view.dtype),
                            view.rank);
  }
  for (std::size_t i = 0; i < declared.dims.size(); ++i) {
    std::int64_t& size = sizes[index_of(declared.dims[i])];
    if (size == kUnknown) size = view.sizes[i];
    if (size == view.sizes[i]) continue;
    throw UserError::format("program {}: expected dim {} of '{}' to be {} ({}), but got {}", program.name, i,
                            declared.name, size, program.dim(declared.dims[i]).name, view.sizes[i]);
  }
}

Elements Run::arranged(const std::vector<AxisId>& axes, const Tile& tile) {
  if (axes == tile.axes) return tile.elements;
  Elements result;
  for (int index : alignments.get(axes, tile.axes))
    result.push_back(tile.elements[static_cast<std::size_t>(index)]);
  return result;
}

std::int64_t Run::scalar(ValueId id) {
  double number = value(id)[0];
  if (holds(i64, number) && number < 0x1p63) return static_cast<std::int64_t>(number);
  throw UserError::format(
      "program {}: an index or a bound is more than its dtype, or the 53 bits of a double, can hold",
      program.name);
}

std::int64_t Run::tiles(AxisId axis) const {
  const int lanes = program.cluster_lanes(axis);
  return (sizes[index_of(program.axis(axis).dim)] + lanes - 1) / lanes;
}

std::int64_t Run::blocks() const {
  std::int64_t clusters = 1;
  for (AxisId axis : program.grid) clusters *= tiles(axis);
  const std::int64_t resident = std::max<std::int64_t>(resident_ / cluster(), 1);
  return (program.launch.persistent ? std::min(clusters, resident) : clusters) * cluster();
}

std::int64_t Run::draw(std::int64_t draws) {
  const std::int64_t before = drawn_;
  drawn_ = before + 1 >= draws ? 0 : before + 1;
  return before;
}

void Run::enter_block(std::int64_t number) {
  frame_->block = number;
  for (auto axis = program.grid.rbegin(); axis != program.grid.rend(); ++axis) {
    bool implied = program.stage == Stage::tile;
    set_start(*axis, implied ? number % tiles(*axis) * program.axis(*axis).extent : kUnknown);
    number /= tiles(*axis);
  }
}

std::int64_t Run::start(AxisId axis, ValueId value) {
  std::int64_t& start = frame_->starts[index_of(axis)];
  if (value != ValueId::none) start = scalar(value);
  return start;
}

Lanes Run::seen(AxisId axis) const {
  const AxisInfo& info = program.axis(axis);
  if (program.stage >= Stage::masked) return {0, info.extent};
  std::int64_t start = frame_->starts[index_of(axis)];
  if (start == kUnknown) {
    throw InternalError::format("interpreter: {} reduces over axis '{}' before anything says where it starts",
                                program.name, info.name);
  }
  std::int64_t last = std::clamp<std::int64_t>(sizes[index_of(info.dim)] - start, 0, info.extent);
  return {static_cast<int>(std::clamp<std::int64_t>(-start, 0, last)), static_cast<int>(last)};
}

}  // namespace tessera::interpreter
