#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tile_core/base/dtype.h"

namespace tessera {

/// A call of an operator in words, as the command line and the rows of benchmarks write it:
/// "linear_gelu 4096x768x3072 --dtype bf16".
struct CallSpec {
  enum class Mask { none, boolean, added };

  std::string op;  ///< of torch.ops.tessera.<op>
  /// add, softmax: sizes; linear, linear_gelu: M, K, N; attention: B, H, S, D.
  std::vector<std::int64_t> shape;
  DType dtype = bf16;
  bool tf32 = false;                 ///< linear, linear_gelu of f32: products may be in TF32
  std::vector<std::int64_t> other;   ///< add: sizes of the second operand; empty: those of the first
  std::int64_t dim = -1;             ///< softmax
  bool bias = true;                  ///< linear, linear_gelu
  std::string approximate = "none";  ///< linear_gelu
  bool training = false;             ///< linear_gelu: the kernel of training, which also gives the product
  bool causal = false;               ///< attention
  Mask mask = Mask::none;            ///< attention: [B, 1, 1, S_k] boolean, or [S_q, S_k] added
  std::int64_t kv_heads = 0;         ///< attention: heads of key and value; 0: H
  std::int64_t kv_length = 0;        ///< attention: rows of key and value; 0: S

  bool operator==(const CallSpec&) const = default;
  /// The memory is the limit, whatever the kernel does.
  bool memory_bound() const { return op == "add" || op == "softmax"; }
  bool is_linear() const { return op == "linear" || op == "linear_gelu"; }
  bool is_attention() const { return op == "scaled_dot_product_attention" || op == "flash_attention"; }
};

/// The words again, without what is a default but for the dtype.
std::string to_text(const CallSpec& spec);

}  // namespace tessera
