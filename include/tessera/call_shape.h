#pragma once
#include <c10/core/ScalarType.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// What a call has besides its shapes. Each operator reads its own.
struct CallOptions {
  c10::ScalarType dtype = c10::kBFloat16;       ///< of the tensors
  std::string approximate = "none";             ///< linear_gelu
  int64_t dim = -1;                             ///< softmax
  std::optional<c10::ScalarType> output_dtype;  ///< softmax: its argument `dtype`
  c10::ScalarType mask_dtype = c10::kBool;      ///< scaled_dot_product_attention with four shapes
  bool is_causal = false;                       ///< attention
  int64_t diagonal = 0;                         ///< flash_attention
  std::optional<double> scale;                  ///< attention
  bool training = false;                        ///< the kernels of a call that requires grad
};

/// A call by its shapes, without tensors: what can be explained and warmed up on any machine. The tensors are
/// contiguous.
struct CallShape {
  std::string op;  ///< of torch.ops.tessera.<op>
  /// Sizes of its tensors in the operator's order; optional ones at the end may be left out. Key heads are
  /// grouped where their number is not query's.
  std::vector<std::vector<int64_t>> shapes;
  CallOptions options;
};

}  // namespace tessera
