#include "ops/shapes.h"

#include "tile_core/base/error.h"

namespace tessera::ops {

int covering(std::int64_t extent, std::initializer_list<int> sizes) {
  for (int size : sizes) {
    if (size >= extent) return size;
  }
  return *(sizes.end() - 1);
}

std::int64_t size(const Problem& problem, std::string_view dim) {
  auto it = problem.dims.find(dim);
  if (it == problem.dims.end()) throw InternalError::format("a problem lacks the size of dim '{}'", dim);
  return it->second;
}

}  // namespace tessera::ops
