#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <string>

#include "tile_core/base/env.h"

// README's table of variables is the one in base/env.cpp.
namespace tessera {
namespace {

using Kind = env::Variable::Kind;

std::string values(const env::Variable& variable) {
  if (variable.kind != Kind::choice && variable.kind != Kind::flag && variable.kind != Kind::list)
    return std::string(variable.values);
  const std::string words = std::regex_replace(std::string(variable.values), std::regex("\\|"), "`, `");
  return fmt::format("{}`{}`", variable.kind == Kind::list ? "list of " : "", words);
}

TEST(Readme, ListsTheEnvironment) {
  std::ifstream file(TESSERA_SOURCE_DIR "/README.md");
  std::stringstream readme;
  readme << file.rdbuf();
  std::string table = "| variable | values | default | meaning |\n|---|---|---|---|\n";
  for (const env::Variable& variable : env::table()) {
    table +=
        fmt::format("| `{}` | {} | {} | {} |\n", variable.name, values(variable),
                    variable.initial.empty() ? "" : fmt::format("`{}`", variable.initial), variable.meaning);
  }
  EXPECT_NE(readme.str().find(table + "\n"), std::string::npos) << "expected in README.md:\n" << table;
}

}  // namespace
}  // namespace tessera
