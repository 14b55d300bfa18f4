#pragma once
#include <string>
#include <vector>

namespace tessera::tools {

/// Rows of cells as lines, each column as wide as its widest cell, two spaces before each.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace tessera::tools
