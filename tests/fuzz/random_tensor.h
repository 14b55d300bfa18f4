#pragma once
#include <ATen/core/Tensor.h>
#include <string>
#include <vector>

#include "tests/fuzz/choices.h"

namespace tessera::fuzz {

/// A tensor, and how it was made: "bf16[3, 5] transposed".
struct RandomTensor {
  at::Tensor tensor;
  std::string text;
};

/// Normal numbers (true three of four times) in a dense tensor or a view: transposed, a part of longer rows,
/// every second element, expanded along a dim, or one element after an aligned address.
RandomTensor random_tensor(Choices& choices, const std::vector<std::int64_t>& sizes, at::ScalarType dtype,
                           at::Device device);

/// The same numbers on every machine, of deviation 1.
at::Tensor normal_numbers(const std::vector<std::int64_t>& sizes, std::uint64_t seed);

}  // namespace tessera::fuzz
