#pragma once
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace tessera::interpreter {

/// Asynchronous operations of one kind in the order of their issue. A commit ends a group; groups finish in
/// order. They are numbered from 1 on.
template <typename Operation>
class Groups {
 public:
  /// The number of the group that the operation belongs to.
  std::int64_t issue(Operation operation) {
    open_.push_back(std::move(operation));
    return open_number();
  }
  std::int64_t open_number() const { return finished_ + static_cast<std::int64_t>(committed_.size()) + 1; }
  void commit() { committed_.push_back(std::exchange(open_, {})); }

  /// Finishes groups, the oldest first, until `pending` committed ones are left; `finish` takes each
  /// operation.
  template <typename Finish>
  void wait(int pending, const Finish& finish) {
    while (committed_.size() > static_cast<std::size_t>(pending)) {
      for (Operation& operation : committed_.front()) finish(operation);
      committed_.pop_front();
      ++finished_;
    }
  }
  std::int64_t finished() const { return finished_; }

  /// The first of those that are unfinished and that `such` holds for, or null.
  template <typename Such>
  const Operation* unfinished(const Such& such) const {
    for (const auto& group : committed_) {
      for (const Operation& operation : group) {
        if (such(operation)) return &operation;
      }
    }
    for (const Operation& operation : open_) {
      if (such(operation)) return &operation;
    }
    return nullptr;
  }
  const Operation* unfinished() const {
    return unfinished([](const Operation&) { return true; });
  }

 private:
  std::vector<Operation> open_;  // since the last commit
  std::deque<std::vector<Operation>> committed_;
  std::int64_t finished_ = 0;
};

}  // namespace tessera::interpreter
