#pragma once
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
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

/// Instructions up to the last of that name, equal neighbours on one line; what comes after is, of a kernel
/// with roles, the producer.
inline std::string order_of(const std::vector<std::string>& names, std::string_view last) {
  std::string text;
  std::string block;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t next = i;
    while (next < names.size() && names[next] == names[i]) ++next;
    block += fmt::format("{} {}\n", next - i, names[i]);
    if (names[i].starts_with(last)) text += std::exchange(block, "");
    i = next;
  }
  return text;
}

}  // namespace tessera::test
