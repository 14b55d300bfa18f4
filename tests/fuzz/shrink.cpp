#include "tests/fuzz/shrink.h"

#include <algorithm>

namespace tessera::fuzz {
namespace {

using Clock = std::chrono::steady_clock;
using List = std::vector<int>;

bool simpler(const List& a, const List& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

class Shrinker {
 public:
  Shrinker(Shrunk start, const Check& check, Clock::time_point end)
      : best_(std::move(start)), check_(check), end_(end) {}

  Shrunk run() {
    for (bool better = true; better && !late();) {
      better = false;
      for (std::size_t length : {64, 16, 8, 4, 2, 1}) {
        better = without_runs(length) || better;
        better = with_zeros(length) || better;
      }
      better = with_smaller_numbers() || better;
    }
    return best_;
  }

 private:
  bool late() const { return Clock::now() >= end_; }

  /// Whether the list, or rather what its case made of it, is simpler and fails in the same way.
  bool take(const List& list) {
    if (late() || list == best_.choices) return false;
    Choices choices(list);
    Counts ignored;
    std::optional<Failure> failure = check_(choices, ignored);
    ++best_.runs;
    List made = choices.made();
    if (!failure || failure->kind != best_.failure.kind || !simpler(made, best_.choices)) return false;
    best_.choices = std::move(made);
    best_.failure = std::move(*failure);
    return true;
  }

  bool without_runs(std::size_t length) {
    bool better = false;
    for (std::size_t end = best_.choices.size(); end >= length && !late(); --end) {
      if (end > best_.choices.size()) continue;
      List list = best_.choices;
      list.erase(list.end() - static_cast<std::ptrdiff_t>(list.size() - end + length),
                 list.begin() + static_cast<std::ptrdiff_t>(end));
      better = take(list) || better;
    }
    return better;
  }

  bool with_zeros(std::size_t length) {
    bool better = false;
    for (std::size_t begin = 0; begin + length <= best_.choices.size() && !late(); begin += length) {
      List list = best_.choices;
      std::fill_n(list.begin() + static_cast<std::ptrdiff_t>(begin), length, 0);
      better = take(list) || better;
    }
    return better;
  }

  bool with_smaller_numbers() {
    bool better = false;
    for (std::size_t i = 0; i < best_.choices.size() && !late(); ++i) {
      for (int number : {best_.choices[i] / 2, best_.choices[i] - 1}) {
        if (i >= best_.choices.size() || number < 0) break;
        List list = best_.choices;
        list[i] = number;
        better = take(list) || better;
      }
    }
    return better;
  }

  Shrunk best_;
  const Check& check_;
  Clock::time_point end_;
};

}  // namespace

Shrunk shrink(std::vector<int> choices, Failure failure, const Check& check, std::chrono::seconds time) {
  return Shrinker({std::move(choices), std::move(failure)}, check, Clock::now() + time).run();
}

}  // namespace tessera::fuzz
