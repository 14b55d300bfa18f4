#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tile_core/base/env.h"

/// The table and its values.
namespace tessera::env {

/// Throws UserError where the value of any variable is not legal, whether something has read it yet or not.
void check();

// What env.cpp needs of the table; nothing of it reads the environment.

const Variable* find(std::string_view name);  ///< nullptr where the table does not declare it
const Variable& nearest(std::string_view name);

bool legal(const Variable& variable, std::string_view value);
std::string legal_values(const Variable& variable);  ///< for messages: "one of block, background, off"

/// The parts between separators that are not empty.
std::vector<std::string_view> split(std::string_view text, char separator);
/// The value of a Kind::megabytes; none where the text is not one.
std::optional<std::uint64_t> megabytes(std::string_view text);

}  // namespace tessera::env
