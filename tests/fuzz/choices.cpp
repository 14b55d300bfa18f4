#include "tests/fuzz/choices.h"

namespace tessera::fuzz {

int Choices::below(int count) {
  int number = 0;
  if (!replays_ && made_.size() < kMost) {
    number = static_cast<int>(random_() % static_cast<std::uint64_t>(count));
  } else if (replays_ && made_.size() < list_.size()) {
    number = list_[made_.size()] % count;
  }
  made_.push_back(number);
  return number;
}

std::vector<int> Choices::made() const {
  std::vector<int> list = made_;
  while (!list.empty() && list.back() == 0) list.pop_back();
  return list;
}

}  // namespace tessera::fuzz
