#pragma once
#include <optional>
#include <vector>

#include "tile_core/passes/role_builder.h"

namespace tessera {

/// A dot that is issued and not waited for.
struct Flight {
  ValueId old{};  ///< its result in the program that is lowered
  int group = 0;  ///< of those committed since the body began; kBefore: in the iteration before
  std::vector<ValueId> channels;  ///< whose slots it reads
};

/// The dots in flight at a place of a role that is being written. Waits are emitted for the groups that are
/// needed, and no later ones.
class Flights {
 public:
  static constexpr int kBefore = -1;

  explicit Flights(RoleBuilder& builder) : b_(builder) {}

  bool has(ValueId old) const { return group_of(old).has_value(); }
  std::optional<int> group_of(ValueId old) const;
  /// The group of the last dot that reads a channel, or one that shares its barriers.
  std::optional<int> reader_of(ValueId channel) const;
  int groups() const { return groups_; }  ///< committed since the body began

  /// A dot is issued in the open group, in place of the one whose result it takes on.
  void add(Flight flight, ValueId accumulator, Loc loc);
  /// What a loop carries in flight enters its body, or leaves it.
  void carry(ValueId old) { flights_.push_back({.old = old, .group = kBefore, .channels = {}}); }
  /// A body begins or has ended: nothing but what is carried is in flight.
  void restart();

  void close_group();
  /// Waits for what was issued up to a group: its results are tiles from here on, and what is owed follows.
  void settle(int last_group);
  void settle() { settle(groups_); }
  /// Waits for the operands of an instruction that are in flight.
  void settle_operands(const Inst& inst);
  /// An instruction that follows the next wait for results.
  void owe(Inst inst) { owed_.push_back(std::move(inst)); }
  bool owes() const { return !owed_.empty(); }

 private:
  RoleBuilder& b_;
  std::vector<Flight> flights_;
  std::vector<Inst> owed_;
  bool open_ = false;
  int groups_ = 0;
};

/// The channel whose barriers a channel has.
ValueId barriers_of(const Program& program, ValueId channel);

}  // namespace tessera
