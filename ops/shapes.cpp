#include "ops/shapes.h"

#include <algorithm>

#include "tile_core/base/error.h"

namespace tessera::ops {

int covering(std::int64_t extent, std::initializer_list<int> sizes) {
  for (int size : sizes) {
    if (size >= extent) return size;
  }
  return *(sizes.end() - 1);
}

bool takes_bulk_copies(const TensorFacts& tensor) {
  return tensor.contiguous_dim >= 0 && tensor.alignment >= kBulkAlignment && tensor.bulk;
}

bool feeds_warpgroups(const Problem& problem, const Target& target, std::size_t tensors) {
  const auto& all = problem.facts.tensors;
  return target.wgmma &&
         std::all_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(tensors),
                     [](const TensorFacts& t) { return size_of(t.dtype) == 2 && takes_bulk_copies(t); });
}

std::int64_t size(const Problem& problem, std::string_view dim) {
  auto it = problem.dims.find(dim);
  if (it == problem.dims.end()) throw InternalError::format("a problem lacks the size of dim '{}'", dim);
  return it->second;
}

}  // namespace tessera::ops
