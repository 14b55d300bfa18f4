#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "tile_core/base/tensor_view.h"
#include "tile_core/codegen/kernel_text.h"
#include "tile_core/runtime/kernel_store.h"

struct CUstream_st;

namespace tessera {

/// A number of the call: `p.scalar("scale", f32)`.
struct ScalarValue {
  Parameter::Kind kind;
  std::uint64_t bits;

  static ScalarValue f32(float value);
  static ScalarValue i64(std::int64_t value);
};

/// The kernel's parameter struct: 8-byte fields in the order of KernelText::parameters. A float is in the low
/// 4 bytes.
struct ParameterBlock {
  static constexpr std::size_t kMaxFields = 512;  // 4096 bytes, the limit of every driver
  alignas(64) std::array<std::uint64_t, kMaxFields> fields;
  std::size_t count = 0;
};

/// Fills the struct from a call's tensors and scalars, in the order of the program's declarations. Allocates
/// nothing.
void pack(const KernelText& kernel, std::span<const TensorView> tensors, std::span<const ScalarValue> scalars,
          ParameterBlock& block);

/// The number of thread blocks; 0 where a size is 0. Throws UserError naming the sizes above CUDA's 2^31 - 1.
std::int64_t grid_size(const KernelText& kernel, std::span<const TensorView> tensors);

/// Launches a loaded kernel on `stream`; a grid of 0 blocks is no launch. Throws DriverError where the driver
/// refuses.
void launch(const KernelText& kernel, const LoadedFunction& function, std::span<const TensorView> tensors,
            std::span<const ScalarValue> scalars, CUstream_st* stream);

/// Throws UserError where a dim is larger than the tile that covers it: what lies beyond would be left out.
void check_covered(const KernelText& kernel, std::span<const TensorView> tensors);

/// Launches a ready kernel on `stream` of `device`, after loading it there if need be. Throws UserError where
/// it is not loaded and the stream captures a graph.
void launch(Kernel& kernel, std::span<const TensorView> tensors, std::span<const ScalarValue> scalars,
            int device, CUstream_st* stream);

/// Loads a ready kernel on `device` without launching it.
void load(Kernel& kernel, int device);

}  // namespace tessera
