#pragma once
#include "ops/operator.h"

namespace tessera::ops {

/// The smallest of `sizes`, which ascend, that covers `extent`; the largest where none does.
int covering(std::int64_t extent, std::initializer_list<int> sizes);

/// Whether the copy engine can copy boxes of a tensor.
bool takes_bulk_copies(const TensorFacts& tensor);

/// Whether dots of the problem's first tensors may be wgmma: on this target, of their dtype and layout.
bool feeds_warpgroups(const Problem& problem, const Target& target, std::size_t tensors);

/// The size of a dim of the problem; throws InternalError where the problem lacks it.
std::int64_t size(const Problem& problem, std::string_view dim);

}  // namespace tessera::ops
