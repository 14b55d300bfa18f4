#pragma once
#include <deque>
#include <map>

#include "tile_core/interpreter/interpreter.h"
#include "tile_core/interpreter/memory.h"
#include "tile_core/interpreter/run.h"

namespace tessera::interpreter {

/// The shared memory of one block and the copies on their way to it. Every slot of a channel knows who wrote
/// it last, whether the block may see that, and who has read it since the last barrier. Up to Stage::device
/// there are no waits and barriers: everything happens at once and in order.
class Machine {
 public:
  Machine(Run& run, Landing landing);

  void enter_block();
  void leave_block();  ///< throws where a copy is unfinished

  void channel(const Inst& inst);
  void copy(const Inst& inst, const CopyIn& copy);
  void commit();
  void wait(int pending);
  void barrier();
  void write(const Inst& inst, const WriteShared& write);
  void read(const Inst& inst, const ReadShared& read);
  void dot(const Inst& inst, const DotShared& dot);

 private:
  enum class Phase {
    visible,  ///< to every thread; at first with nothing written
    copying,  ///< an asynchronous copy has been issued and not waited for
    written,  ///< by some thread, with no barrier since
  };
  struct SlotState {
    Elements elements;  // over the channel's axes
    Phase phase = Phase::visible;
    const Inst* writer = nullptr;
    const Inst* reader = nullptr;  // since the last barrier
  };
  struct Copy {
    SlotState* to;
    const Inst* inst;
    TensorId tensor;
    Footprint from;
  };

  SlotState& at(const Slot& slot);
  const Elements& readable(const Inst& inst, const Slot& slot);
  SlotState& writable(const Inst& inst, const Slot& slot);
  void land(const Copy& copy);
  std::string text(const Slot& slot);
  [[noreturn]] void fail(const Inst& inst, const Slot& slot, const char* what, const char* other_role,
                         const Inst& other);

  Run& run_;
  Landing landing_;
  bool checked_;
  std::map<ValueId, std::vector<SlotState>> channels_;
  std::vector<Copy> open_;                // since the last commit
  std::deque<std::vector<Copy>> groups_;  // unfinished, the oldest first
};

}  // namespace tessera::interpreter
