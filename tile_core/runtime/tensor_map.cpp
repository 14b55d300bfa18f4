#include "tile_core/runtime/tensor_map.h"

#include <algorithm>
#include <bit>
#include <fmt/ranges.h>
#include <memory>

#include "tile_core/base/error.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/driver_table.h"
#include "tile_core/target/bulk.h"

namespace tessera {
namespace {

constexpr std::size_t kRank = kMaxBulkRank;

/// Everything that a map depends on.
struct Key {
  CUctx_st* context = nullptr;
  const void* data = nullptr;
  std::array<std::int64_t, kRank> sizes{};
  std::array<std::int64_t, kRank> strides{};
  std::array<int, kRank> box{};
  std::int16_t swizzle = 0;
  std::uint8_t contiguous = 0;
  std::uint8_t rank = 0;
  DType dtype = f32;

  bool operator==(const Key&) const = default;
};

Key key_of(const TensorMap& map, const TensorView& tensor, CUctx_st* context) {
  Key key{.context = context,
          .data = tensor.data,
          .swizzle = static_cast<std::int16_t>(map.swizzle),
          .contiguous = static_cast<std::uint8_t>(map.contiguous),
          .rank = static_cast<std::uint8_t>(tensor.rank),
          .dtype = tensor.dtype};
  std::copy_n(tensor.sizes.begin(), tensor.rank, key.sizes.begin());
  std::copy_n(tensor.strides.begin(), tensor.rank, key.strides.begin());
  std::copy_n(map.box.begin(), tensor.rank, key.box.begin());
  return key;
}

/// The maps that a thread encoded last. A place holds one map: that of a parameter and an address, whose
/// sizes may change from call to call.
class Memo {
 public:
  struct Entry {
    Key key;
    CUtensorMap map;
  };

  Entry& at(const TensorMap& parameter, const void* data) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio: spreads neighbours
    const auto bits =
        reinterpret_cast<std::uintptr_t>(data) ^ std::rotl(reinterpret_cast<std::uintptr_t>(&parameter), 32);
    return entries_[bits * kGolden >> (64 - kBits)];
  }

 private:
  static constexpr int kBits = 8;
  std::array<Entry, std::size_t{1} << kBits> entries_{};
};

Memo& memo() {
  thread_local const auto kMine = std::make_unique<Memo>();
  return *kMine;
}

CUtensorMapDataType type_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case DType::i32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case DType::i64:
      return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case DType::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  }
  throw InternalError::format("a map of a tensor of no known dtype");
}

CUtensorMapSwizzle swizzle_of(int bytes) {
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                       : CU_TENSOR_MAP_SWIZZLE_32B;
}

/// What the driver is told, by the dims of the map: the contiguous one, then the others from the last on.
struct Arguments {
  std::array<cuuint64_t, kRank> sizes{};
  std::array<cuuint64_t, kRank - 1> strides{};  // bytes, of all dims but the contiguous one
  std::array<cuuint32_t, kRank> box{};
};

/// Bytes; a dim of size 1, whose stride is multiplied with nothing, may have one that no map may have.
cuuint64_t stride_of(const Key& key, std::size_t dim) {
  constexpr std::int64_t kSmallest = 16, kLargest = std::int64_t{1} << 40;
  const std::int64_t stride = key.strides[dim] * size_of(key.dtype);
  const bool legal = stride > 0 && stride < kLargest && stride % kSmallest == 0;
  return static_cast<cuuint64_t>(legal ? stride : kSmallest);
}

Arguments arguments_of(const Key& key) {
  const auto contiguous = static_cast<std::size_t>(key.contiguous);
  Arguments arguments;
  arguments.sizes[0] = static_cast<cuuint64_t>(key.sizes[contiguous]);
  arguments.box[0] = static_cast<cuuint32_t>(key.box[contiguous]);
  std::size_t count = 1;
  for (auto dim = static_cast<std::size_t>(key.rank); dim-- > 0;) {
    if (dim == contiguous) continue;
    arguments.sizes[count] = static_cast<cuuint64_t>(key.sizes[dim]);
    arguments.strides[count - 1] = stride_of(key, dim);
    arguments.box[count++] = static_cast<cuuint32_t>(key.box[dim]);
  }
  return arguments;
}

void check_expressible(const KernelText& kernel, const TensorMap& map, const TensorView& tensor) {
  std::string problem = why_not_bulk(tensor, map.contiguous);
  if (problem.empty()) problem = why_not_box(tensor.dtype, map.box, map.contiguous, map.swizzle);
  if (problem.empty()) return;
  throw UserError::format(
      "kernel {}: the copy engine cannot copy boxes of tensor {}: {}; pass a dense tensor that is aligned to "
      "16 bytes, or use TESSERA_POLICY=native",
      kernel.name, map.tensor, problem);
}

void encode(const KernelText& kernel, const TensorMap& map, const Key& key, CUtensorMap& encoded) {
  const Arguments arguments = arguments_of(key);
  constexpr std::array<cuuint32_t, kRank> kEveryElement = {1, 1, 1, 1, 1};
  const CUresult result = driver::table().tensor_map_encode_tiled(
      &encoded, type_of(key.dtype), static_cast<cuuint32_t>(key.rank), const_cast<void*>(key.data),
      arguments.sizes.data(), arguments.strides.data(), arguments.box.data(), kEveryElement.data(),
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(key.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return;
  const auto dims = [](const auto& values, int count) {
    return fmt::join(values.begin(), values.begin() + count, ", ");
  };
  driver::check(
      result, "cuTensorMapEncodeTiled",
      fmt::format("describing tensor {} to the copy engine for kernel {}: {} at {}, sizes ({}), "
                  "strides ({}) in bytes, box ({}), swizzle {}",
                  map.tensor, kernel.name, name_of(key.dtype), key.data, dims(arguments.sizes, key.rank),
                  dims(arguments.strides, key.rank - 1), dims(arguments.box, key.rank), key.swizzle));
}

}  // namespace

void encode_map(const KernelText& kernel, const TensorMap& map, const TensorView& tensor, CUctx_st* context,
                std::span<std::uint64_t, ParameterBlock::kMapFields> encoded) {
  if (static_cast<int>(map.box.size()) != tensor.rank) {
    throw InternalError::format("kernel {} maps boxes of {} dims of tensor {}, which has rank {}",
                                kernel.name, map.box.size(), map.tensor, tensor.rank);
  }
  if (tensor.rank < 1 || tensor.rank > kMaxBulkRank)
    check_expressible(kernel, map, tensor);  // no key holds it
  const Key key = key_of(map, tensor, context);
  Memo::Entry& entry = memo().at(map, tensor.data);
  if (entry.key != key) {
    check_expressible(kernel, map, tensor);
    entry.key = {};  // an encoding that fails leaves no entry
    encode(kernel, map, key, entry.map);
    entry.key = key;
  }
  std::ranges::copy(entry.map.opaque, encoded.begin());
}

}  // namespace tessera
