#pragma once
#include <functional>
#include <memory>
#include <string>

#include "tile_core/interpreter/clock.h"
#include "tile_core/interpreter/groups.h"
#include "tile_core/interpreter/run.h"
#include "tile_core/interpreter/shared_memory.h"

namespace tessera::interpreter {

class Fiber;

/// A dot that has been issued.
struct IssuedDot {
  const Inst* inst = nullptr;
  std::int64_t group = 0;
  std::shared_ptr<IssuedDot> onto;  // the dot that it adds to, where that was pending
  Elements start;                   // else what it adds to
  Elements a;                       // of an operand in registers
  Place a_place;                    // else
  Place b_place;
  bool done = false;
  Elements result;
};

/// What one instance is doing.
struct Progress {
  Clock own;    ///< what some thread of it knows to have happened
  Clock known;  ///< what all of its threads know
  std::int64_t acts = 0;
  std::int64_t steps = 0;  ///< instructions executed
  Groups<Transfer> copies;
  Groups<Transfer> stores;
  Groups<std::shared_ptr<IssuedDot>> dots;
  const Inst* dots_fence = nullptr;  ///< since the last commit of dots
  std::int64_t dots_fence_step = 0;
  const Inst* dots_commit = nullptr;  ///< the last
  const Inst* turn = nullptr;         ///< that it has taken and not passed
};

/// Who executes: the whole block, or an instance of a role, whose threads are taken for one except for what
/// barriers are there for.
struct Instance : Progress {
  Instance(const Program& program, int number);
  Instance(const Program& program, int number, int role_number, const Role& role, int index);

  /// Starts afresh.
  void enter(const Frame& frame);

  /// The next act of its threads. They do not know it of each other before a barrier.
  Event act();
  const Clock& sees() const { return role != nullptr && role->elected ? own : known; }
  void learn(const Clock& clock) { own.learn(clock), known.learn(clock); }
  void barrier() { known.learn(own); }

  /// Lets others run until the condition holds. `lacks` says what it waits for.
  void wait(const Inst& inst, std::function<bool()> condition, std::function<std::string()> lacks);

  int number = 0;  ///< in the cluster
  std::string name;
  const Role* role = nullptr;  ///< null: the whole block
  int index = 0;               ///< within the role
  Frame frame;

  Fiber* fiber = nullptr;
  const Inst* waits_in = nullptr;
  std::function<bool()> goes_on;  ///< empty: at once
  std::function<std::string()> lacks;
};

}  // namespace tessera::interpreter
