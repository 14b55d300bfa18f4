#pragma once
#include <cstdint>
#include <string>

#include "tile_core/interpreter/clock.h"

namespace tessera::interpreter {

/// A barrier in shared memory, as the hardware has it: a phase ends when all arrivals and bytes that are due
/// in it have come, and the next begins. A wait knows only whether the number of its phase is even.
class MBarrier {
 public:
  explicit MBarrier(int arrivals) : due_(arrivals), arrivals_(arrivals) {}

  void arrive(int arrivals, const Clock& clock);
  void expect(std::int64_t bytes);                    ///< in this phase, besides the arrivals
  void land(std::int64_t bytes, const Event& event);  ///< may come before they are expected

  /// Phases that have ended.
  std::int64_t ended() const { return ended_; }
  /// Whether a wait for the end of this phase, -1 on, returns.
  bool passes(std::int64_t phase) const { return ((ended_ ^ phase) & 1) != 0; }
  bool lacks_arrivals() const { return arrivals_ > 0; }
  bool is_fresh() const { return arrivals_ == due_ && bytes_ == 0; }  ///< nothing has come in this phase
  /// "2 arrivals and 512 bytes"
  std::string lacks() const;
  /// What those knew who arrived in the phases that have ended.
  const Clock& clock() const { return clock_; }

 private:
  void end_phase();

  int due_;       // arrivals of a phase
  int arrivals_;  // that are due in this one
  std::int64_t bytes_ = 0;
  std::int64_t ended_ = 0;
  Clock arrived_;
  Clock clock_;
};

}  // namespace tessera::interpreter
