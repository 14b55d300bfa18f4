#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Characters to insert, remove or change that lead from one word to the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "; the nearest is WORD", for the end of a message; empty where more than half of the letters would change.
std::string nearest_hint(std::string_view word, const std::vector<std::string_view>& words);

}  // namespace tessera
