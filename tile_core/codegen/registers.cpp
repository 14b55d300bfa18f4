#include "tile_core/codegen/registers.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <vector>

namespace tessera::codegen {
namespace {

/// One digit of a place's index, with the divisor that brings it to the front.
struct Digit {
  Repeat repeat;
  int divisor = 1;
  int rest = 1;  ///< values of this digit and all slower ones
};

std::vector<Digit> digits(const Layout& layout, Place place) {
  std::vector<Digit> result;
  int divisor = 1;
  for (const Repeat& repeat : layout.repeats()) {
    if (repeat.place != place) continue;
    result.push_back({repeat, divisor, layout.count(place) / divisor});
    divisor *= repeat.count;
  }
  return result;
}

std::string digit_value(const Digit& digit, const std::string& index) {
  std::string text = digit.divisor == 1 ? index : fmt::format("{} / {}", index, digit.divisor);
  return digit.rest == digit.repeat.count ? text : fmt::format("{} % {}", text, digit.repeat.count);
}

std::string scaled(const std::string& value, int factor) {
  return factor == 1 ? value : fmt::format("{} * {}", value, factor);
}

void append(std::string& sum, const std::string& term) {
  sum += sum.empty() ? term : " + " + term;
}

}  // namespace

std::string register_coordinate(const Layout& layout, AxisId axis, const std::string& r) {
  std::string sum;
  for (const Digit& digit : digits(layout, Place::reg)) {
    if (digit.repeat.axis == axis) append(sum, scaled(digit_value(digit, r), digit.repeat.stride));
  }
  return sum.empty() ? "0" : sum;
}

std::string thread_coordinate(const Layout& layout, AxisId axis) {
  std::string sum;
  for (Place place : {Place::lane, Place::warp}) {
    for (const Digit& digit : digits(layout, place)) {
      const char* name = place == Place::lane ? "lane" : "warp";
      if (digit.repeat.axis == axis) append(sum, scaled(digit_value(digit, name), digit.repeat.stride));
    }
  }
  return sum.empty() ? "0" : sum;
}

std::string register_index(const Layout& from, const Layout& to, const std::string& r) {
  if (from == to) return r;
  std::string sum;
  int place_value = 1;
  for (const Digit& digit : digits(from, Place::reg)) {
    if (to.count(Place::reg, digit.repeat.axis) == 1) continue;
    append(sum, scaled(digit_value(digit, r), place_value));
    place_value *= digit.repeat.count;
  }
  return sum.empty() ? "0" : sum;
}

std::string sliced_register(const Layout& from, const Layout& to, AxisId of, AxisId seen, int first) {
  std::string sum;
  for (const Digit& digit : digits(from, Place::reg)) {
    bool sliced = digit.repeat.axis == of;
    std::string coordinate = register_coordinate(to, sliced ? seen : digit.repeat.axis, "r");
    if (sliced && first > 0) coordinate += fmt::format(" + {}", first);
    std::string steps = fmt::format("({})", coordinate);
    if (digit.repeat.stride > 1) steps += fmt::format(" / {}", digit.repeat.stride);
    append(sum, scaled(fmt::format("{} % {}", steps, digit.repeat.count), digit.divisor));
  }
  return sum.empty() ? "0" : sum;
}

std::string first_replica(const Layout& layout) {
  std::string condition;
  for (Place place : {Place::lane, Place::warp}) {
    for (const Digit& digit : digits(layout, place)) {
      if (digit.repeat.axis != AxisId::none) continue;
      std::string zero = fmt::format("{} == 0", digit_value(digit, place == Place::lane ? "lane" : "warp"));
      condition += condition.empty() ? zero : " && " + zero;
    }
  }
  return condition;
}

int run_length(const Layout& layout, AxisId axis, int limit) {
  for (const Repeat& repeat : layout.repeats()) {
    if (repeat.place != Place::reg) break;
    return repeat.axis == axis && repeat.stride == 1 ? std::gcd(repeat.count, limit) : 1;
  }
  return 1;
}

}  // namespace tessera::codegen
