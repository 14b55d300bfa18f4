#pragma once
#include <compare>
#include <map>
#include <optional>

#include "tile_core/ir/type.h"

namespace tessera {

/// A slot as seen from the current iteration: `offset` slots after the one that the loop's ticket names.
struct SlotKey {
  ValueId channel{};
  int offset = 0;
  auto operator<=>(const SlotKey&) const =
      default;  // NOLINT(modernize-use-nullptr): a false positive of clang 14
};

/// What has happened to shared memory since the last barrier, and which asynchronous copies may be
/// unfinished.
class Hazards {
 public:
  bool operator==(const Hazards&) const = default;

  void copying(SlotKey key) { slots_[key] = {.copy_age = 0, .written = true}; }
  void committed();
  void written(SlotKey key) { slots_[key].written = true; }
  void read(SlotKey key) { slots_[key].read = true; }
  void waited(int pending);
  void synchronised();

  /// The number of younger groups that may stay unfinished when the slot is read; none: nothing to wait for.
  std::optional<int> wait_before_reading(SlotKey key) const;
  bool barrier_before_reading(SlotKey key) const;
  bool barrier_before_writing(SlotKey key) const;
  /// The number of groups younger than the oldest unfinished copy, -1 where all have finished.
  int unfinished() const;

  /// The tickets of these rings (channel, slots) have advanced by one.
  void next_iteration(const std::map<ValueId, int>& rings);
  /// A loop has ended after an unknown number of iterations: what holds for one slot of a ring may hold for
  /// any.
  void forget_order(const std::map<ValueId, int>& rings);
  /// What may hold where control comes from either state.
  Hazards joined(const Hazards& other) const;

 private:
  struct State {
    int copy_age = -1;  ///< groups committed since the slot's own, 0: not yet its own; -1: no unfinished copy
    bool written = false;
    bool read = false;
    bool operator==(const State&) const = default;
  };
  static State joined(const State& a, const State& b);

  std::map<SlotKey, State> slots_;
};

}  // namespace tessera
