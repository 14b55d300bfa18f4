#include "tile_core/passes/hazards.h"

#include <algorithm>

namespace tessera {

void Hazards::committed() {
  for (auto& [key, state] : slots_) {
    if (state.copy_age >= 0) ++state.copy_age;
  }
}

void Hazards::waited(int pending) {
  for (auto& [key, state] : slots_) {
    if (state.copy_age > pending) state.copy_age = -1;
  }
}

void Hazards::synchronised() {
  std::erase_if(slots_, [](const auto& slot) { return slot.second.copy_age < 0; });
  for (auto& [key, state] : slots_) state.read = false;
}

std::optional<int> Hazards::wait_before_reading(SlotKey key) const {
  auto it = slots_.find(key);
  if (it == slots_.end() || it->second.copy_age < 0) return std::nullopt;
  return std::max(it->second.copy_age - 1, 0);
}

bool Hazards::barrier_before_reading(SlotKey key) const {
  auto it = slots_.find(key);
  return it != slots_.end() && it->second.written;
}

bool Hazards::barrier_before_writing(SlotKey key) const {
  auto it = slots_.find(key);
  return it != slots_.end() && (it->second.written || it->second.read);
}

int Hazards::unfinished() const {
  int oldest = -1;
  for (const auto& [key, state] : slots_) oldest = std::max(oldest, state.copy_age);
  return oldest;
}

Hazards::State Hazards::joined(const State& a, const State& b) {
  State result{.written = a.written || b.written, .read = a.read || b.read};
  result.copy_age = a.copy_age < 0   ? b.copy_age
                    : b.copy_age < 0 ? a.copy_age
                                     : std::min(a.copy_age, b.copy_age);
  return result;
}

Hazards Hazards::joined(const Hazards& other) const {
  Hazards result = *this;
  for (const auto& [key, state] : other.slots_) result.slots_[key] = joined(result.slots_[key], state);
  return result;
}

void Hazards::next_iteration(const std::map<ValueId, int>& rings) {
  std::map<SlotKey, State> moved;
  for (const auto& [key, state] : slots_) {
    auto ring = rings.find(key.channel);
    SlotKey now = key;
    if (ring != rings.end()) now.offset = (key.offset + ring->second - 1) % ring->second;
    moved[now] = state;
  }
  slots_ = std::move(moved);
}

void Hazards::forget_order(const std::map<ValueId, int>& rings) {
  for (auto [channel, slots] : rings) {
    State any;
    for (int offset = 0; offset < slots; ++offset) {
      if (auto it = slots_.find({channel, offset}); it != slots_.end()) any = joined(any, it->second);
    }
    if (any == State{}) continue;
    for (int offset = 0; offset < slots; ++offset) slots_[{channel, offset}] = any;
  }
}

}  // namespace tessera
