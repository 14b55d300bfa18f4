#pragma once
#include <map>
#include <string>
#include <vector>

#include "tile_core/base/dtype.h"

namespace tessera {

/// Bytes that the addresses and strides of what the copy engine copies are multiples of.
inline constexpr int kBulkAlignment = 16;

/// What is known of one tensor of a call when its kernel is compiled.
struct TensorFacts {
  DType dtype = f32;
  int contiguous_dim = -1;  ///< the dim whose stride is 1; -1 where there is none
  /// A power of two, at most 16, that divides the address, every other stride and the contiguous size, in
  /// bytes: the width of an access that is legal everywhere in the tensor. Not always the widest: see
  /// calls/call.cpp.
  int alignment = 1;

  /// Of an aligned tensor, whether the copy engine can copy boxes of it: no stride of 0, no size or stride
  /// too large (bulk.h).
  bool bulk = true;

  bool operator==(const TensorFacts&) const = default;
};

/// Sizes of tiles by axis, the arguments of an operator's program: {{"m", 128}, {"n", 64}}.
using Tiles = std::map<std::string, int, std::less<>>;
/// The listed flags of an operator: causal, bias, mask kind.
using Flags = std::map<std::string, int, std::less<>>;

/// What a kernel is specialised on: never a sequence length.
struct Facts {
  std::vector<TensorFacts> tensors;  ///< in the order of the program's declarations
  Flags flags;

  bool operator==(const Facts&) const = default;
};

}  // namespace tessera
