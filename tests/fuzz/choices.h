#pragma once
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace tessera::fuzz {

/// The decisions that make a random case, in the order in which they are taken: drawn from a seed, or
/// replayed from a list. A case is a function of them alone, on every machine, so that a failure shrinks to a
/// shorter list of smaller numbers without anybody knowing what they mean (MacIver and Donaldson, "Test-Case
/// Reduction via Test-Case Generation", ECOOP 2020).
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}
  explicit Choices(std::vector<int> list) : replays_(true), list_(std::move(list)) {}

  /// A number from 0 to `count` - 1. 0 is the simplest, and what follows on a list's end.
  int below(int count);
  /// True that often of 100 times; false is the simpler.
  bool chance(int percent) { return below(100) >= 100 - percent; }
  /// One of the values, the simplest first.
  template <typename Value>
  Value of(std::initializer_list<Value> values) {
    return values.begin()[below(static_cast<int>(values.size()))];
  }
  template <typename Value>
  const Value& of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  /// All of them in random order.
  template <typename Value>
  std::vector<Value> shuffled(std::vector<Value> values) {
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
      std::swap(values[i], values[i + static_cast<std::size_t>(below(static_cast<int>(values.size() - i)))]);
    return values;
  }

  /// What has been decided, without the zeros at the end.
  std::vector<int> made() const;

 private:
  static constexpr std::size_t kMost = 2000;  ///< then 0, which ends whatever is being made

  bool replays_ = false;
  std::vector<int> list_;   ///< to replay
  std::mt19937_64 random_;  ///< its numbers are the standard's, unlike those of std's distributions
  std::vector<int> made_;
};

}  // namespace tessera::fuzz
