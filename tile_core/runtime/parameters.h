#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "tile_core/base/tensor_view.h"
#include "tile_core/codegen/kernel_text.h"

namespace tessera {

/// A number of the call: `p.scalar("scale", f32)`.
struct ScalarValue {
  Parameter::Kind kind;
  std::uint64_t bits;

  static ScalarValue f32(float value);
  static ScalarValue i64(std::int64_t value);
};

/// The kernel's parameter struct: 128 bytes for each of KernelText::maps, then 8-byte fields in the order of
/// KernelText::parameters. A float is in the low 4 bytes.
struct ParameterBlock {
  static constexpr std::size_t kMapFields = 16;   // 128 bytes
  static constexpr std::size_t kMaxFields = 512;  // 4096 bytes, the limit of every driver
  alignas(64) std::array<std::uint64_t, kMaxFields> fields;
  std::size_t count = 0;

  /// The bytes of a map.
  std::span<std::uint64_t, kMapFields> map(std::size_t index) {
    return std::span<std::uint64_t, kMapFields>(fields.data() + index * kMapFields, kMapFields);
  }
};

/// Fills the fields from a call's tensors and scalars, in the order of the program's declarations, and leaves
/// room for the maps in front of them. `counter`: the number of the launch's own, where it draws tiles.
/// Allocates nothing.
void pack(const KernelText& kernel, std::span<const TensorView> tensors, std::span<const ScalarValue> scalars,
          ParameterBlock& block, int counter = 0);

}  // namespace tessera
