#include "tile_core/runtime/parameters.h"

#include <bit>

#include "tile_core/base/error.h"
#include "tile_core/runtime/call_tensors.h"

namespace tessera {
namespace {

std::uint64_t scalar_at(const KernelText& kernel, std::span<const ScalarValue> scalars,
                        const Parameter& parameter) {
  const auto i = static_cast<std::size_t>(parameter.tensor);
  if (i >= scalars.size() || scalars[i].kind != parameter.kind) {
    throw InternalError::format("kernel {} asks for scalar {}, and the call has {}{}", kernel.name,
                                parameter.tensor, scalars.size(),
                                i < scalars.size() ? ", that one of another type" : "");
  }
  return scalars[i].bits;
}

std::uint64_t field(const KernelText& kernel, std::span<const TensorView> tensors,
                    std::span<const ScalarValue> scalars, int counter, const Parameter& p) {
  switch (p.kind) {
    case Parameter::Kind::pointer:
      return reinterpret_cast<std::uintptr_t>(tensor_at(kernel, tensors, p.tensor).data);
    case Parameter::Kind::size:
      return static_cast<std::uint64_t>(size_at(kernel, tensors, p.tensor, p.dim));
    case Parameter::Kind::stride:
      return static_cast<std::uint64_t>(stride_at(kernel, tensors, p.tensor, p.dim));
    case Parameter::Kind::scalar_f32:
    case Parameter::Kind::scalar_i64:
      return scalar_at(kernel, scalars, p);
    case Parameter::Kind::counter:
      return static_cast<std::uint64_t>(counter);
  }
  throw InternalError::format("kernel {} has a parameter of no known kind", kernel.name);
}

}  // namespace

ScalarValue ScalarValue::f32(float value) {
  return {Parameter::Kind::scalar_f32, std::bit_cast<std::uint32_t>(value)};
}

ScalarValue ScalarValue::i64(std::int64_t value) {
  return {Parameter::Kind::scalar_i64, static_cast<std::uint64_t>(value)};
}

void pack(const KernelText& kernel, std::span<const TensorView> tensors, std::span<const ScalarValue> scalars,
          ParameterBlock& block, int counter) {
  const std::size_t of_maps = kernel.maps.size() * ParameterBlock::kMapFields;
  if (of_maps + kernel.parameters.size() > ParameterBlock::kMaxFields) {
    throw InternalError::format("kernel {} has {} maps and {} parameters, more than {} bytes", kernel.name,
                                kernel.maps.size(), kernel.parameters.size(),
                                ParameterBlock::kMaxFields * sizeof(std::uint64_t));
  }
  block.count = of_maps;
  for (const Parameter& parameter : kernel.parameters) {
    block.fields[block.count++] = field(kernel, tensors, scalars, counter, parameter);
  }
}

}  // namespace tessera
