#pragma once
#include "ops/operator.h"

namespace tessera::ops {

/// The smallest of `sizes`, which ascend, that covers `extent`; the largest where none does.
int covering(std::int64_t extent, std::initializer_list<int> sizes);

/// The size of a dim of the problem; throws InternalError where the problem lacks it.
std::int64_t size(const Problem& problem, std::string_view dim);

}  // namespace tessera::ops
