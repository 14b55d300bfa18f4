#include "tile_core/runtime/set_zero.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <span>
#include <vector>

#include "tile_core/base/error.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/driver_table.h"

namespace tessera {
namespace {

/// `count` rows of `bytes`, each `pitch` bytes after the one before.
struct Rows {
  std::int64_t bytes = 0;
  std::int64_t pitch = 0;
  std::int64_t count = 1;
  bool all = true;  ///< they are all of the tensor
};

struct Step {
  std::int64_t stride = 0;  // bytes
  std::int64_t size = 0;
};

/// Takes dims from the fastest on: into the row while they continue it, then into the rows.
Rows rows_of(const TensorView& tensor) {
  std::vector<Step> steps;
  for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d) {
    if (tensor.sizes[d] == 0) return {};
    if (tensor.sizes[d] > 1) steps.push_back({tensor.strides[d] * size_of(tensor.dtype), tensor.sizes[d]});
  }
  std::ranges::sort(steps, {}, &Step::stride);
  Rows rows{.bytes = size_of(tensor.dtype)};
  for (const Step& step : steps) {
    if (rows.count == 1 && step.stride == rows.bytes) {
      rows.bytes *= step.size;
    } else if (rows.count == 1 && step.stride > rows.bytes) {
      rows.pitch = step.stride;
      rows.count = step.size;
    } else if (rows.count > 1 && step.stride == rows.pitch * rows.count) {
      rows.count *= step.size;
    } else {
      rows.all = false;
    }
  }
  return rows;
}

}  // namespace

void set_zero(const KernelText& kernel, const TensorView& tensor, int index, CUstream_st* stream) {
  const Rows rows = rows_of(tensor);
  const auto rank = static_cast<std::size_t>(tensor.rank);
  if (!rows.all) {
    throw UserError::format(
        "kernel {}: tensor {} starts as 0, and with sizes ({}) and strides ({}) its elements are no rows "
        "that lie equally far apart; pass a dense tensor",
        kernel.name, index, fmt::join(std::span(tensor.sizes).first(rank), ", "),
        fmt::join(std::span(tensor.strides).first(rank), ", "));
  }
  if (rows.bytes == 0) return;
  const auto at = reinterpret_cast<CUdeviceptr>(tensor.data);
  const auto bytes = static_cast<std::size_t>(rows.bytes);
  const CUresult result =
      rows.count == 1 ? driver::table().memset_d8_async(at, 0, bytes, stream)
                      : driver::table().memset_d2d8_async(at, static_cast<std::size_t>(rows.pitch), 0, bytes,
                                                          static_cast<std::size_t>(rows.count), stream);
  if (result == CUDA_SUCCESS) return;
  driver::check(result, rows.count == 1 ? "cuMemsetD8Async" : "cuMemsetD2D8Async",
                fmt::format("setting tensor {} of kernel {} to 0", index, kernel.name));
}

}  // namespace tessera
