#include "tile_core/autotune/key.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "tile_core/autotune/variant.h"

namespace tessera::autotune {
namespace {

template <typename Map>
std::string assignments(const Map& map) {
  std::string text;
  for (const auto& [name, value] : map) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string join(std::initializer_list<std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    if (!word.empty()) text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

/// "bf16 d1 16B": the contiguous dim and the widest access.
std::string tensors(const Facts& facts) {
  std::string text;
  for (const TensorFacts& t : facts.tensors) {
    const std::string dim = t.contiguous_dim < 0 ? "strided" : fmt::format("d{}", t.contiguous_dim);
    text += fmt::format("{}{} {} {}B{}", text.empty() ? "(" : ", ", name_of(t.dtype), dim, t.alignment,
                        t.bulk ? "" : " no bulk copies");
  }
  return text.empty() ? "()" : text + ")";
}

}  // namespace

std::string family(const Key& key) {
  return join(
      {key.op, tensors(key.facts), assignments(key.facts.flags), "on " + key.device, "(" + key.arch + ")"});
}

std::string to_text(const Key& key) {
  return join({key.op, assignments(key.dims), tensors(key.facts), assignments(key.facts.flags),
               "on " + key.device, "(" + key.arch + ")"});
}

std::string to_text(const Variant& variant) {
  const std::string schedule = to_text(variant.schedule);
  return join({assignments(variant.tiles), schedule == "automatic" ? "" : schedule});
}

double distance(const Dims& a, const Dims& b) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return kFar;
  double largest = 1;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
    if (x->first != y->first) return kFar;
    if (x->second == y->second) continue;
    if (x->second <= 0 || y->second <= 0) return kFar;
    const double ratio = static_cast<double>(x->second) / static_cast<double>(y->second);
    largest = std::max({largest, ratio, 1 / ratio});
  }
  return largest;
}

}  // namespace tessera::autotune
