#include "tile_core/base/nearest.h"

#include <algorithm>
#include <numeric>

namespace tessera {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string nearest_hint(std::string_view word, const std::vector<std::string_view>& words) {
  const auto found =
      std::ranges::min_element(words, {}, [&](std::string_view known) { return edit_distance(word, known); });
  if (found == words.end() || 2 * edit_distance(word, *found) > word.size()) return "";
  return "; the nearest is " + std::string(*found);
}

}  // namespace tessera
