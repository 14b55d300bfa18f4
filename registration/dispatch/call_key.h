#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "registration/calls/call.h"
#include "tile_core/base/env.h"

namespace tessera::dispatch {

/// Everything that a decision may depend on, packed into words on the stack: operator, flags, policy, device,
/// and dtype, sizes, strides and alignment of every tensor.
class CallKey {
 public:
  CallKey(const Call& call, Policy policy, int device);

  std::span<const std::int64_t> words() const { return {words_.data(), count_}; }

 private:
  static constexpr std::size_t kPerTensor = 1 + 2 * TensorView::kMaxRank;
  std::array<std::int64_t, 2 + Call::kMostFlags + Call::kMostTensors * kPerTensor> words_;
  std::size_t count_ = 0;
};

struct WordsHash {
  using is_transparent = void;
  std::size_t operator()(std::span<const std::int64_t> words) const;
};
struct WordsEqual {
  using is_transparent = void;
  bool operator()(std::span<const std::int64_t> a, std::span<const std::int64_t> b) const;
};
/// Found by the words of a CallKey without a copy of them.
template <typename Value>
using CallMap = std::unordered_map<std::vector<std::int64_t>, Value, WordsHash, WordsEqual>;
using CallSet = std::unordered_set<std::vector<std::int64_t>, WordsHash, WordsEqual>;

}  // namespace tessera::dispatch
