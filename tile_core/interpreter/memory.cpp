#include "tile_core/interpreter/memory.h"

#include <algorithm>
#include <limits>

#include "tile_core/base/error.h"

namespace tessera::interpreter {
namespace {

constexpr std::int64_t kOutside = std::numeric_limits<std::int64_t>::min();

char* element(const TensorView& tensor, std::int64_t offset) {
  return static_cast<char*>(tensor.data) + offset * size_of(tensor.dtype);
}

/// What the lanes of one subscript add to the offset.
Footprint lanes(Run& run, const TensorView& tensor, std::size_t dim, const Subscript& s) {
  std::int64_t first = s.axis == AxisId::none ? run.scalar(s.value) : run.start(s.axis, s.value);
  int count = s.axis == AxisId::none ? 1 : run.program.axis(s.axis).extent;
  Footprint result;
  for (std::int64_t i = first; i < first + count; ++i) {
    result.push_back(i >= 0 && i < tensor.sizes[dim] ? i * tensor.strides[dim] : kOutside);
  }
  return result;
}

}  // namespace

Footprint footprint(Run& run, TensorId id, const std::vector<Subscript>& subscripts,
                    const std::vector<AxisId>& axes) {
  const TensorView& tensor = run.tensors[index_of(id)];
  std::vector<Footprint> parts(1 + axes.size());  // first that of scalars, then of the axes
  parts[0] = {0};
  for (std::size_t dim = 0; dim < subscripts.size(); ++dim) {
    Footprint part = lanes(run, tensor, dim, subscripts[dim]);
    if (subscripts[dim].axis == AxisId::none) {
      parts[0][0] = parts[0][0] == kOutside || part[0] == kOutside ? kOutside : parts[0][0] + part[0];
    } else {
      auto position = std::find(axes.begin(), axes.end(), subscripts[dim].axis) - axes.begin();
      parts[1 + static_cast<std::size_t>(position)] = std::move(part);
    }
  }
  Footprint result = {0};
  for (const Footprint& part : parts) {
    Footprint next;
    next.reserve(result.size() * part.size());
    for (std::int64_t base : result) {
      for (std::int64_t offset : part)
        next.push_back(base == kOutside || offset == kOutside ? kOutside : base + offset);
    }
    result = std::move(next);
  }
  return result;
}

void load(const TensorView& tensor, const Footprint& from, Elements& result) {
  result.resize(from.size());
  std::transform(from.begin(), from.end(), result.begin(), [&](std::int64_t offset) {
    return offset == kOutside ? 0 : load_element(tensor.dtype, element(tensor, offset));
  });
}

void store(const TensorView& tensor, const Footprint& to, const Elements& elements, bool accumulate) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == kOutside) continue;
    char* place = element(tensor, to[i]);
    const double before = accumulate ? load_element(tensor.dtype, place) : 0;
    store_element(tensor.dtype, place, accumulate ? before + elements[i] : elements[i]);
  }
}

void set_zero(const TensorView& tensor) {
  Footprint all = {0};
  for (int dim = 0; dim < tensor.rank; ++dim) {
    const auto d = static_cast<std::size_t>(dim);
    Footprint next;
    for (std::int64_t offset : all) {
      for (std::int64_t i = 0; i < tensor.sizes[d]; ++i) next.push_back(offset + i * tensor.strides[d]);
    }
    all = std::move(next);
  }
  for (std::int64_t offset : all) store_element(tensor.dtype, element(tensor, offset), 0);
}

void store(Run& run, const Store& store) {
  std::vector<AxisId> axes;
  for (const Subscript& s : store.subscripts) {
    if (s.axis != AxisId::none) axes.push_back(s.axis);
  }
  const TensorView& tensor = run.tensors[index_of(store.tensor)];
  Footprint to = footprint(run, store.tensor, store.subscripts, axes);
  Elements value = run.arranged(axes, run.tile(store.value));
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == kOutside || is_float(tensor.dtype) || holds(tensor.dtype, value[i])) continue;
    throw UserError::format(
        "program {}: '{}' is given an integer that is more than {}, or the 53 bits of a double, can hold",
        run.program.name, run.program.tensor(store.tensor).name, name_of(tensor.dtype));
  }
  interpreter::store(tensor, to, value, store.accumulate);
}

}  // namespace tessera::interpreter
