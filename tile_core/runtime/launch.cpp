#include "tile_core/runtime/launch.h"

#include <algorithm>
#include <limits>

#include "tile_core/base/error.h"
#include "tile_core/base/overlap.h"
#include "tile_core/runtime/call_tensors.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/driver_table.h"
#include "tile_core/runtime/set_zero.h"
#include "tile_core/runtime/tensor_map.h"

namespace tessera {
namespace {

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

/// The blocks, or clusters of them, that a device holds at a time.
std::int64_t resident(const KernelText& kernel, Residence device) {
  if (kernel.cluster > 1) {
    if (device.clusters > 0) return device.clusters;
    throw InternalError::format("kernel {} is persistent, and the device holds no cluster of {} blocks",
                                kernel.name, kernel.cluster);
  }
  const std::int64_t blocks = std::int64_t{kernel.blocks} * device.multiprocessors;
  if (blocks > 0) return blocks;
  throw InternalError::format("kernel {} is persistent, with {} blocks on each of {} multiprocessors",
                              kernel.name, kernel.blocks, device.multiprocessors);
}

/// What the launch sets to 0, before it could be read.
void check_zeroed(const KernelText& kernel, std::span<const TensorView> tensors) {
  for (const int index : kernel.zeroed) {
    tensor_at(kernel, tensors, index);
    if (const auto other = overlapping(tensors, static_cast<std::size_t>(index))) {
      throw UserError::format(
          "kernel {}: tensor {} starts as 0, and its memory and that of tensor {} overlap; give it memory of "
          "its own",
          kernel.name, index, *other);
    }
  }
}

BlockShape shape_of(const KernelText& kernel) {
  return {.threads = kernel.threads, .shared_bytes = kernel.shared_bytes, .cluster = kernel.cluster};
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

std::int64_t grid_size(const KernelText& kernel, std::span<const TensorView> tensors, Residence device) {
  std::int64_t clusters = 1;
  bool overflow = false;
  for (const GridAxis& axis : kernel.grid) {
    const std::int64_t size = size_at(kernel, tensors, axis.tensor, axis.dim);
    if (size == 0) return 0;
    const std::int64_t tiles = size / axis.tile + (size % axis.tile != 0 ? 1 : 0);
    overflow = overflow || __builtin_mul_overflow(clusters, tiles, &clusters);
  }
  if (overflow || clusters > kMaxBlocks / kernel.cluster) grid_too_large(kernel, tensors);
  if (kernel.persistent) clusters = std::min(clusters, resident(kernel, device));
  return clusters * kernel.cluster;
}

void check_covered(const KernelText& kernel, std::span<const TensorView> tensors) {
  for (const CoveredDim& covered : kernel.covered) {
    const std::int64_t size = size_at(kernel, tensors, covered.tensor, covered.dim);
    if (size <= covered.tile) continue;
    throw UserError::format(
        "kernel {}: one tile of {} covers {}, but its size is {}; choose a larger tile, or loop over the dim",
        kernel.name, covered.tile, covered.name, size);
  }
}

void launch(const KernelText& kernel, const LoadedFunction& function, std::span<const TensorView> tensors,
            std::span<const ScalarValue> scalars, CUstream_st* stream) {
  check_covered(kernel, tensors);
  check_zeroed(kernel, tensors);
  const std::int64_t blocks = grid_size(kernel, tensors, function.residence);
  ParameterBlock block;
  Counters::Taken counter;
  if (blocks > 0) {
    for (std::size_t i = 0; i < kernel.maps.size(); ++i) {
      const TensorMap& map = kernel.maps[i];
      encode_map(kernel, map, tensor_at(kernel, tensors, map.tensor), function.context, block.map(i));
    }
    if (kernel.counter) counter = function.counters->take(kernel.name, stream);
    pack(kernel, tensors, scalars, block, counter.number);
  }
  // After what else may refuse the call: that has then written nothing.
  for (const int index : kernel.zeroed) set_zero(kernel, tensor_at(kernel, tensors, index), index, stream);
  if (blocks > 0) launch_grid(kernel, function, block, blocks, stream);
}

void launch(Kernel& kernel, std::span<const TensorView> tensors, std::span<const ScalarValue> scalars,
            int device, CUstream_st* stream) {
  const KernelText& text = kernel.text();
  launch(text, kernel.functions().get(kernel.cubin(), shape_of(text), device, stream), tensors, scalars,
         stream);
}

void load(Kernel& kernel, int device) {
  kernel.functions().get(kernel.cubin(), shape_of(kernel.text()), device, nullptr);
}

}  // namespace tessera
