#include "tile_core/codegen/exchange.h"

#include <algorithm>
#include <fmt/format.h>

namespace tessera::codegen {
namespace {

bool is_digit_of(const Repeat& r, Place place, AxisId axis) {
  return r.place == place && r.axis == axis;
}

/// What is left of a digit without its lowest bit.
void append_rest(std::vector<Repeat>& to, Repeat digit) {
  digit.count /= 2;
  digit.stride *= 2;
  if (digit.count > 1) to.push_back(digit);
}

}  // namespace

std::optional<Exchange> exchange_of(const Layout& layout, AxisId axis) {
  const std::vector<Repeat>& all = layout.repeats();
  const auto first = [&](Place place) {
    return std::find_if(all.begin(), all.end(), [&](const Repeat& r) { return r.place == place; });
  };
  const auto pair = first(Place::reg), lane = first(Place::lane);
  if (pair == all.end() || *pair != Repeat{Place::reg, axis, kPair, 1}) return std::nullopt;
  if (lane == all.end() || lane->axis != axis || lane->stride != kPair || lane->count % 2 != 0)
    return std::nullopt;
  const auto block =
      std::find_if(pair + 1, all.end(), [&](const Repeat& r) { return is_digit_of(r, Place::reg, axis); });
  if (block == all.end() || block->count % 2 != 0 || block->stride < lane->count * lane->stride)
    return std::nullopt;

  Exchange exchange;
  std::vector<Repeat> after;
  for (auto digit = all.begin(); digit != all.end(); ++digit) {
    if (digit < block && digit->place == Place::reg) exchange.block *= digit->count;
    if (digit == pair) {
      after.push_back({Place::reg, axis, 2 * kPair, 1});
    } else if (digit == block) {
      append_rest(after, *digit);
    } else if (digit == lane) {
      after.push_back({Place::lane, axis, 2, block->stride});
      append_rest(after, *digit);
    } else {
      after.push_back(*digit);
    }
  }
  exchange.layout = Layout(std::move(after));
  return exchange;
}

std::string first_pair(const Exchange& exchange, const std::string& r) {
  const int pairs = exchange.block / kPair;  // of one block, before the other's first
  const std::string fours = fmt::format("{} / {}", r, 2 * kPair);
  if (pairs == 1) return fmt::format("{} * {}", fours, 2 * exchange.block);
  return fmt::format("{} % {} * {} + {} / {} * {}", fours, pairs, kPair, fours, pairs, 2 * exchange.block);
}

}  // namespace tessera::codegen
