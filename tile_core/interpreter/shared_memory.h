#pragma once
#include <map>
#include <string>
#include <vector>

#include "tile_core/interpreter/clock.h"
#include "tile_core/interpreter/memory.h"
#include "tile_core/interpreter/report.h"
#include "tile_core/interpreter/run.h"

namespace tessera::interpreter {

/// The slot, or the part of one, that an instruction names, by the values of its ticket and index then.
struct Place {
  ValueId channel{};
  int slot = 0;
  std::int64_t use = 0;  // of the slot, the first is 0
  Section section;
  std::vector<AxisId> axes;  // of the tile that is seen
};

/// A copy between a tensor and a slot that is on its way.
struct Transfer {
  const Inst* inst = nullptr;
  Place place;
  TensorId tensor{};
  Footprint elements;
};

/// What an instruction does to a place.
struct Access {
  const char* what = nullptr;  ///< its name in errors
  const Inst* inst = nullptr;
  const Instance* by = nullptr;
  Event event;                ///< has happened for whoever knows this
  bool asynchronous = false;  ///< by the copy engine or by a dot, which see writes of threads after a fence
};

/// The slots of a block's channels: their elements, and who wrote and read what since. An access that nothing
/// orders after an earlier one which it depends on is an error.
class SharedMemory {
 public:
  explicit SharedMemory(Run& run) : run_(run) {}

  void clear() { slots_.clear(); }
  void define(ValueId channel);

  Place place(const Slot& slot);
  std::string text(const Place& place) const;
  Elements get(const Place& place);
  void set(const Place& place, const Elements& elements);
  void forget(const Place& place);  ///< NaN

  void read(const Place& place, const Access& access);
  void write(const Place& place, const Access& access);
  /// An asynchronous copy has happened for its thread: from here on a write of then.
  void landed(const Transfer& copy, const Event& event);
  /// Throws where an asynchronous access of the instance to the slot has not ended.
  void check_ended(const Place& slot, const Instance& instance, const Inst& inst, const char* verb) const;

 private:
  /// The lanes first up to, without, last of an axis; all of the slot where there is no axis.
  struct Region {
    AxisId axis = AxisId::none;
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool operator==(const Region&) const = default;
    bool meets(const Region& other) const;
    bool covers(const Region& other) const;
  };
  struct Mark {
    Access access;
    Region region;
  };
  struct SlotState {
    Elements elements;         // over the channel's axes
    std::vector<Mark> writes;  // those that no later one covers
    std::vector<Mark> reads;   // since then, of every agent and region the last
  };

  SlotState& at(const Place& place);
  Region region(const Place& place) const;
  std::vector<int> index(const Place& place);
  void order(const Place& place, const Access& access, const char* verb, const Access& before) const;

  Run& run_;
  std::map<ValueId, std::vector<SlotState>> slots_;
};

}  // namespace tessera::interpreter
