#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "registration/calls/calls.h"

namespace tessera::dispatch {

/// The arguments of a call as torch gives them, packed into words on the stack: everything that its checks
/// and the decision on it may depend on. Two calls of equal words are decided alike. Cheaper than the
/// CallKey, which needs the call.
class ArgumentsKey {
 public:
  explicit ArgumentsKey(const AddArguments& a);
  /// `keeps`: the pre-activation is an output, too.
  explicit ArgumentsKey(const LinearArguments& a, bool keeps = false);
  explicit ArgumentsKey(const SoftmaxArguments& a);
  explicit ArgumentsKey(const AttentionArguments& a);

  /// Empty where a tensor is undefined or not strided, or has too many dims.
  std::span<const std::int64_t> words() const { return {words_.data(), fits_ ? count_ : 0}; }

 private:
  static constexpr std::size_t kMostTensors = 4, kMostDims = TensorView::kMaxRank, kMostOthers = 8;

  void add(std::int64_t word) { words_[count_++] = word; }
  void add(double value) { add(std::bit_cast<std::int64_t>(value)); }
  void add(const at::Tensor& t);
  void add(const std::optional<at::Tensor>& t);

  std::array<std::int64_t, kMostOthers + kMostTensors*(2 + 2 * kMostDims)> words_;
  std::size_t count_ = 0;
  bool fits_ = true;
};

}  // namespace tessera::dispatch
