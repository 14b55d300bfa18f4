#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <string>

// docs/bug_cases.md against the tests' sources.
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

void add_tests_of(const fs::path& file, Names& names) {
  static const std::regex gtest(R"(^TEST(?:_F|_P)?\((\w+), (\w+)\))"), python_class(R"(^class (\w+))"),
      python_test(R"(^    def (test_\w+))");
  std::ifstream stream(file);
  std::string group;
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_search(line, match, gtest)) {
      names.insert(match[1].str() + "." + match[2].str());
    } else if (std::regex_search(line, match, python_class)) {
      group = match[1].str();
    } else if (std::regex_search(line, match, python_test)) {
      names.insert(group + "." + match[1].str());
    }
  }
}

/// "Suite.Name" of every test that there is.
const Names& tests() {
  static const Names all = [] {
    Names names;
    for (const auto& entry : fs::recursive_directory_iterator(TESSERA_SOURCE_DIR "/tests")) {
      const fs::path kind = entry.path().extension();
      if (kind == ".cpp" || kind == ".py") add_tests_of(entry.path(), names);
    }
    return names;
  }();
  return all;
}

/// The cases in a test's name: B05_B07_TinyShapes is of two.
Names cases_of(const std::string& test) {
  static const std::regex number(R"((?:\.|_)(B\d+)(?=_|[A-Z]|$))");
  Names cases;
  for (std::sregex_iterator it(test.begin(), test.end(), number), end; it != end; ++it)
    cases.insert((*it)[1].str());
  return cases;
}

struct Row {
  std::string id, remarks;
  Names tests;
};

std::vector<Row> table() {
  static const std::regex row(R"(^\| (B\d+) \| [^|]+ \| ([^|]*) \| ([^|]*) ?\|$)"), name("`([^`]+)`");
  std::ifstream file(TESSERA_SOURCE_DIR "/docs/bug_cases.md");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (!line.starts_with("| B") || !std::regex_match(line, match, row)) {
      EXPECT_FALSE(line.starts_with("| B")) << "no row of the table's form: " << line;
      continue;
    }
    Row& added = rows.emplace_back(Row{match[1].str(), match[3].str(), {}});
    const std::string names = match[2].str();
    for (std::sregex_iterator it(names.begin(), names.end(), name), end; it != end; ++it)
      added.tests.insert((*it)[1].str());
  }
  return rows;
}

constexpr std::size_t kCases = 99;  // of the collection that apply

TEST(BugCaseTable, HasEveryCaseOnceInOrder) {
  const std::vector<Row> rows = table();
  EXPECT_EQ(rows.size(), kCases);
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_LT(std::stoi(rows[i - 1].id.substr(1)), std::stoi(rows[i].id.substr(1)));
}

TEST(BugCaseTable, NamesTestsThatAreThere) {
  for (const Row& row : table()) {
    EXPECT_TRUE(!row.tests.empty() || row.remarks.starts_with("Cannot apply: "))
        << row.id << ": no test, no reason";
    for (const std::string& test : row.tests) {
      EXPECT_TRUE(tests().contains(test)) << row.id << ": no test is called " << test;
      EXPECT_TRUE(cases_of(test).contains(row.id)) << test << " does not name " << row.id;
    }
  }
}

TEST(BugCaseTable, NamesEveryTestOfACase) {
  std::map<std::string, Names> named;
  for (const Row& row : table()) named[row.id] = row.tests;
  for (const std::string& test : tests()) {
    for (const std::string& id : cases_of(test))
      EXPECT_TRUE(named[id].contains(test)) << test << " is not in the row of " << id;
  }
}

}  // namespace
