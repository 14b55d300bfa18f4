#include "registration/calls/call.h"

#include <algorithm>

#include "tile_core/target/bulk.h"

namespace tessera {
namespace {

constexpr std::uint64_t kWidest = 16, kWord = 4;  // bytes

/// The dim whose stride is 1; -1 where there is none.
int contiguous_dim(const TensorView& view) {
  int found = -1;
  for (int i = 0; i < view.rank; ++i) {
    if (view.strides[i] == 1 && (view.sizes[i] > 1 || found < 0)) found = i;
  }
  return found;
}

}  // namespace

int alignment_of(const TensorView& view) {
  const int contiguous = contiguous_dim(view);
  const auto element = static_cast<std::uint64_t>(size_of(view.dtype));
  std::uint64_t bits = kWidest | reinterpret_cast<std::uintptr_t>(view.data);
  for (int i = 0; i < view.rank; ++i) {
    if (i == contiguous) {
      bits |= static_cast<std::uint64_t>(view.sizes[i]) * element;
    } else if (view.sizes[i] > 1) {  // no index but 0 is ever multiplied by the stride of a dim of size 1
      bits |= static_cast<std::uint64_t>(view.strides[i]) * element;
    }
  }
  // Three classes, not five: kernels must not multiply with the sizes of a call's tensors. Less than a word
  // cannot be copied asynchronously.
  const std::uint64_t narrow = bits % kWord == 0 ? std::max(kWord, element) : element;
  return static_cast<int>(bits % kWidest == 0 ? kWidest : narrow);
}

TensorFacts facts_of(const TensorView& view, bool boxes) {
  TensorFacts facts{view.dtype, contiguous_dim(view), alignment_of(view)};
  if (boxes && facts.alignment == static_cast<int>(kWidest) && facts.contiguous_dim >= 0)
    facts.bulk = why_not_bulk(view, facts.contiguous_dim).empty();
  return facts;
}

bool Call::outputs_are_empty() const {
  const auto is_empty = [](const TensorView& view) {
    return std::any_of(view.sizes.begin(), view.sizes.begin() + view.rank,
                       [](std::int64_t size) { return size == 0; });
  };
  const auto outputs = tensors().last(output_count_);
  return !outputs.empty() && std::ranges::all_of(outputs, is_empty);
}

ops::Problem Call::problem() const {
  ops::Problem problem;
  for (const TensorView& view : tensors()) problem.facts.tensors.push_back(facts_of(view, op().has_dots));
  for (const Named& flag : flags()) problem.facts.flags[flag.name] = static_cast<int>(flag.value);
  for (const Named& dim : dims()) problem.dims[dim.name] = dim.value;
  return problem;
}

}  // namespace tessera
