#include "tile_core/interpreter/mbarrier.h"

#include <fmt/format.h>

namespace tessera::interpreter {

void MBarrier::arrive(int arrivals, const Clock& clock) {
  arrived_.learn(clock);
  arrivals_ -= arrivals;
  end_phase();
}

void MBarrier::expect(std::int64_t bytes) {
  bytes_ += bytes;
}

void MBarrier::land(std::int64_t bytes, const Event& event) {
  arrived_.learn(event);
  bytes_ -= bytes;
  end_phase();
}

void MBarrier::end_phase() {
  if (arrivals_ != 0 || bytes_ != 0) return;
  arrivals_ = due_;
  ++ended_;
  clock_.learn(arrived_);
}

std::string MBarrier::lacks() const {
  return fmt::format("{} arrivals and {} bytes", arrivals_, bytes_);
}

}  // namespace tessera::interpreter
