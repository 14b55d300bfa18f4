#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tile_core/interpreter/dot.h"
#include "tile_core/interpreter/instance.h"
#include "tile_core/interpreter/interpreter.h"
#include "tile_core/interpreter/passing.h"
#include "tile_core/interpreter/shared_memory.h"

namespace tessera::interpreter {

/// What the instances of one block share: memory, barriers, turns, and what is on its way. Up to
/// Stage::device only slots and turns pass between instances: all else happens at once and in order.
class Machine {
 public:
  /// `rank`: of the block in its cluster.
  Machine(Run& run, Landing landing, int rank);
  /// The blocks of the cluster, by rank, from whose machines something may come.
  void join(std::deque<Machine>& cluster);

  /// The block as a whole, at its beginning.
  Instance& enter_block();
  void leave_block();  ///< throws where something is unfinished
  /// The instances of the roles, at their beginning.
  std::vector<Instance*> enter_roles(const Roles& roles);
  void leave(Instance& instance);  ///< the same of one of them
  /// What the slot is, by the values of who runs.
  Place place(const Slot& slot) { return memory_.place(slot); }

  // Of an operation: executes it. Of any other: there is none.
  void execute(Instance& by, const Inst& inst, const Channel& o);
  void execute(Instance& by, const Inst& inst, const View& o);
  void execute(Instance& by, const Inst& inst, const PassSlot& o);
  void execute(Instance& by, const Inst& inst, const Barrier& o);
  void execute(Instance& by, const Inst& inst, const FenceShared& o);
  void execute(Instance& by, const Inst& inst, const WriteShared& o);
  void execute(Instance& by, const Inst& inst, const ReadShared& o);
  void execute(Instance& by, const Inst& inst, const DotShared& o);
  void execute(Instance& by, const Inst& inst, const TakeTurn& o);
  void execute(Instance& by, const Inst& inst, const PassTurn& o);
  void execute(Instance& by, const Inst& inst, const DrawTile& o);
  // machine_copies.cpp
  void execute(Instance& by, const Inst& inst, const CopyIn& o);
  void execute(Instance& by, const Inst& inst, const CommitCopies& o);
  void execute(Instance& by, const Inst& inst, const WaitCopies& o);
  void execute(Instance& by, const Inst& inst, const CopyOut& o);
  void execute(Instance& by, const Inst& inst, const CommitStores& o);
  void execute(Instance& by, const Inst& inst, const WaitStores& o);
  // machine_dots.cpp
  void execute(Instance& by, const Inst& inst, const IssueDot& o);
  void execute(Instance& by, const Inst& inst, const FenceDots& o);
  void execute(Instance& by, const Inst& inst, const CommitDots& o);
  void execute(Instance& by, const Inst& inst, const WaitDots& o);

  /// Before an instruction: throws where it takes a value that a dot has yet to give.
  void check_operands(const Instance& by, const Inst& inst);
  /// Before it writes the registers of a value: throws where a dot reads them.
  void check_registers(const Instance& by, const Inst& inst, ValueId written) const;

 private:
  struct Turn {
    bool given = false;
    Clock clock;
    Side passed;
  };

  Place read(Instance& by, const Inst& inst, const Slot& slot, const char* what, Event event);
  void read_tile(Instance& by, const Inst& inst, const Slot& slot);
  Place write(Instance& by, const Inst& inst, const Slot& slot, const char* what, Event event);
  void transfer_in(const Transfer& copy);
  void transfer_out(const Transfer& copy);
  DotKind kind_of(const DotOperand& a, const Slot& b, Precision precision);
  void check_dot_registers(const Instance& by, const Inst& inst, ValueId operand);
  void compute(IssuedDot& dot);

  Run& run_;
  int rank_;
  bool checked_;              // barriers, fences and waits for copies are there
  bool issued_dots_checked_;  // those for dots are
  bool lazy_;                 // what is asynchronous happens when it is waited for, not at once
  SharedMemory memory_;
  Passing passing_;
  std::deque<Instance> instances_;  // the block's, then those of the roles
  std::map<const Role*, std::vector<Turn>> turns_;
};

}  // namespace tessera::interpreter
