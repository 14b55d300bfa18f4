#include "tile_core/runtime/launch.h"

#include <bit>
#include <limits>

#include "tile_core/base/error.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/driver_table.h"

namespace tessera {
namespace {

const TensorView& tensor_at(const KernelText& kernel, std::span<const TensorView> tensors, int index) {
  const auto i = static_cast<std::size_t>(index);
  if (i < tensors.size()) return tensors[i];
  throw InternalError::format("kernel {} asks for tensor {}, and the call has {}", kernel.name, index,
                              tensors.size());
}

enum class Extent { size, stride };

std::int64_t extent_at(const KernelText& kernel, std::span<const TensorView> tensors, int index, int dim,
                       Extent which) {
  const TensorView& tensor = tensor_at(kernel, tensors, index);
  if (dim < 0 || dim >= tensor.rank) {
    throw InternalError::format("kernel {} asks for dim {} of tensor {}, which has rank {}", kernel.name, dim,
                                index, tensor.rank);
  }
  const auto d = static_cast<std::size_t>(dim);
  return which == Extent::size ? tensor.sizes[d] : tensor.strides[d];
}

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
                    std::span<const ScalarValue> scalars, const Parameter& p) {
  switch (p.kind) {
    case Parameter::Kind::pointer:
      return reinterpret_cast<std::uintptr_t>(tensor_at(kernel, tensors, p.tensor).data);
    case Parameter::Kind::size:
      return static_cast<std::uint64_t>(extent_at(kernel, tensors, p.tensor, p.dim, Extent::size));
    case Parameter::Kind::stride:
      return static_cast<std::uint64_t>(extent_at(kernel, tensors, p.tensor, p.dim, Extent::stride));
    case Parameter::Kind::scalar_f32:
    case Parameter::Kind::scalar_i64:
      return scalar_at(kernel, scalars, p);
  }
  throw InternalError::format("kernel {} has a parameter of no known kind", kernel.name);
}

constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void grid_too_large(const KernelText& kernel, std::span<const TensorView> tensors) {
  std::string axes;
  for (const GridAxis& axis : kernel.grid) {
    axes += fmt::format(
        "{}{} in tiles of {}", axes.empty() ? "" : " x ",
        tensors[static_cast<std::size_t>(axis.tensor)].sizes[static_cast<std::size_t>(axis.dim)], axis.tile);
  }
  throw UserError::format(
      "kernel {}: the grid of sizes {} has more than the {} blocks that CUDA launches; split the call, or "
      "use TESSERA_POLICY=native",
      kernel.name, axes, kMaxBlocks);
}

void launch_grid(const KernelText& kernel, const LoadedFunction& function, ParameterBlock& block,
                 std::int64_t blocks, CUstream_st* stream) {
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(blocks);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = static_cast<unsigned>(kernel.threads);
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = static_cast<unsigned>(kernel.shared_bytes);
  config.hStream = stream;
  void* parameters[] = {block.fields.data()};
  const CUresult result = driver::table().launch_kernel_ex(&config, function.handle, parameters, nullptr);
  if (result == CUDA_SUCCESS) return;
  driver::check(
      result, "cuLaunchKernelEx",
      fmt::format(
          "launching kernel {} with {} blocks of {} threads and {} bytes of shared memory; an earlier "
          "kernel may be the cause: run with CUDA_LAUNCH_BLOCKING=1 or under compute-sanitizer",
          kernel.name, blocks, kernel.threads, kernel.shared_bytes));
}

}  // namespace

ScalarValue ScalarValue::f32(float value) {
  return {Parameter::Kind::scalar_f32, std::bit_cast<std::uint32_t>(value)};
}

ScalarValue ScalarValue::i64(std::int64_t value) {
  return {Parameter::Kind::scalar_i64, static_cast<std::uint64_t>(value)};
}

void pack(const KernelText& kernel, std::span<const TensorView> tensors, std::span<const ScalarValue> scalars,
          ParameterBlock& block) {
  if (kernel.parameters.size() > ParameterBlock::kMaxFields) {
    throw InternalError::format("kernel {} has {} parameters, more than {}", kernel.name,
                                kernel.parameters.size(), ParameterBlock::kMaxFields);
  }
  block.count = 0;
  for (const Parameter& parameter : kernel.parameters) {
    block.fields[block.count++] = field(kernel, tensors, scalars, parameter);
  }
}

std::int64_t grid_size(const KernelText& kernel, std::span<const TensorView> tensors) {
  std::int64_t blocks = 1;
  bool overflow = false;
  for (const GridAxis& axis : kernel.grid) {
    const std::int64_t size = extent_at(kernel, tensors, axis.tensor, axis.dim, Extent::size);
    if (size == 0) return 0;
    const std::int64_t tiles = size / axis.tile + (size % axis.tile != 0 ? 1 : 0);
    overflow = overflow || __builtin_mul_overflow(blocks, tiles, &blocks);
  }
  if (overflow || blocks > kMaxBlocks) grid_too_large(kernel, tensors);
  return blocks;
}

void check_covered(const KernelText& kernel, std::span<const TensorView> tensors) {
  for (const CoveredDim& covered : kernel.covered) {
    const std::int64_t size = extent_at(kernel, tensors, covered.tensor, covered.dim, Extent::size);
    if (size <= covered.tile) continue;
    throw UserError::format(
        "kernel {}: one tile of {} covers {}, but its size is {}; choose a larger tile, or loop over the dim",
        kernel.name, covered.tile, covered.name, size);
  }
}

void launch(const KernelText& kernel, const LoadedFunction& function, std::span<const TensorView> tensors,
            std::span<const ScalarValue> scalars, CUstream_st* stream) {
  check_covered(kernel, tensors);
  const std::int64_t blocks = grid_size(kernel, tensors);
  if (blocks == 0) return;
  ParameterBlock block;
  pack(kernel, tensors, scalars, block);
  launch_grid(kernel, function, block, blocks, stream);
}

void launch(Kernel& kernel, std::span<const TensorView> tensors, std::span<const ScalarValue> scalars,
            int device, CUstream_st* stream) {
  const KernelText& text = kernel.text();
  launch(text, kernel.functions().get(kernel.cubin(), text.shared_bytes, device, stream), tensors, scalars,
         stream);
}

void load(Kernel& kernel, int device) {
  kernel.functions().get(kernel.cubin(), kernel.text().shared_bytes, device, nullptr);
}

}  // namespace tessera
