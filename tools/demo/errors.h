#pragma once
#include <ATen/core/Tensor.h>
#include <string>

namespace tessera::demo {

/// What both sides of a model in this dtype gave, and what they should have given.
struct Results {
  at::ScalarType dtype;
  at::Tensor native, tessera;
  at::Tensor expected;  ///< in float64
};

/// One line: both sides' largest and root-mean-square error. False, and a line that says so, where ours
/// breaks the accuracy contract.
bool print_errors(const std::string& what, const Results& results);

}  // namespace tessera::demo
