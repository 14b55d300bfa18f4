#pragma once
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

/// The instructions of machine code, in order, whose names begin with one of these: "LDG.E.128.CONSTANT".
inline std::vector<std::string> instructions(const std::string& sass, std::vector<std::string_view> names) {
  std::vector<std::string> found;
  std::istringstream words(sass);
  for (std::string word; words >> word;) {
    if (std::any_of(names.begin(), names.end(),
                    [&](std::string_view name) { return word.starts_with(name); }))
      found.push_back(word);
  }
  return found;
}

/// How often each of them stands there.
inline std::map<std::string, int> counted(const std::string& sass, std::vector<std::string_view> names) {
  std::map<std::string, int> counts;
  for (const std::string& name : instructions(sass, std::move(names))) ++counts[name];
  return counts;
}

}  // namespace tessera::test
