#pragma once
#include <map>
#include <string>
#include <vector>

#include "tile_core/interpreter/instance.h"
#include "tile_core/interpreter/mbarrier.h"
#include "tile_core/interpreter/shared_memory.h"
#include "tile_core/ir/channel.h"

namespace tessera::interpreter {

/// Passes slots between instances by their mbarriers, and knows who owns which: a writer from acquire to
/// commit, a reader from wait to release. Slots of a channel that nobody releases are used once.
class Passing {
 public:
  /// `lazy`: bulk copies land when somebody waits for them, not at once. `rank`: of the block in its cluster.
  Passing(Run& run, SharedMemory& memory, bool lazy, int rank);
  /// The blocks of the cluster, by rank.
  void join(std::vector<Passing*> cluster) { cluster_ = std::move(cluster); }

  void enter_block();
  void define(const Inst& inst, const Channel& channel);
  /// Whether the slots of the channel pass between roles.
  bool passes(ValueId channel) const { return protocols_.contains(roots_.at(channel)); }

  void pass(Instance& instance, const Inst& inst, const PassSlot& pass);
  /// Starts a bulk copy, to all blocks of the cluster where it is multicast.
  void copy(const Instance& instance, const Transfer& copy, bool multicast);

  /// Throw where the instance does not own the slot.
  void check_reader(const Instance& instance, const Inst& inst, const Place& place);
  void check_writer(const Instance& instance, const Inst& inst, const Place& place);
  /// Throw where slots are not what they were when the instance, or the block, began.
  void leave(const Instance& instance) const;
  void leave_block() const;

 private:
  struct Use {
    std::int64_t number = 0;
    const Inst* inst = nullptr;
  };
  struct Passed {
    Place place;  // in the root
    MBarrier full;
    MBarrier empty;
    std::map<const Instance*, Use> writers;
    std::map<const Instance*, Use> readers;
    std::vector<Transfer> coming;
    Side last;       // step that somebody took
    int number = 0;  // among all slots of the cluster
  };

  Passed& at(const Place& place);
  /// The use that the instance may write; null where it may not. Slots that nobody releases have one use,
  /// which needs no acquire.
  const Use* writing(const Instance& instance, const Inst& inst, Passed& slot);
  void acquire(Instance& instance, const Inst& inst, Passed& slot, std::int64_t use);
  void commit(Instance& instance, const Inst& inst, Passed& slot);
  void wait(Instance& instance, const Inst& inst, Passed& slot, std::int64_t use);
  void release(Instance& instance, const Inst& inst, Passed& slot);
  void wait_for(Instance& instance, const Inst& inst, Passed& slot, MBarrier& barrier, std::int64_t phase);
  void check_ended(const Instance& instance, const Inst& inst, const Passed& slot, const char* verb);
  /// A copy by an instance, of this block or another of the cluster, comes for a use of a slot.
  void receive(const Instance& instance, const Transfer& copy, std::int64_t use);
  void land(Passed& slot);
  [[noreturn]] void fail(const Instance& instance, const Inst& inst, const Passed& slot,
                         const std::string& what) const;

  Run& run_;
  SharedMemory& memory_;
  bool lazy_;
  std::map<ValueId, Protocol> protocols_;
  std::map<std::pair<const Role*, ValueId>, int> releases_;  // arrivals at a release
  std::map<ValueId, ValueId> roots_;
  std::map<ValueId, std::vector<Passed>> channels_;  // by root
  int slots_ = 0;                                    // of all channels
  int rank_;
  std::vector<Passing*> cluster_;
};

}  // namespace tessera::interpreter
