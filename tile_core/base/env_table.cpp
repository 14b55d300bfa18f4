#include "tile_core/base/env_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/ranges.h>
#include <limits>

#include "tile_core/base/nearest.h"

namespace tessera::env {
namespace {

using Kind = Variable::Kind;

constexpr std::array kTable = {
    Variable{"TESSERA_POLICY", Kind::choice, "auto|tile|native", "auto",
             "which kernels run: the plan's choice, generated ones or ATen's"},
    Variable{"TESSERA_JIT", Kind::choice, "block|background|off", "block",
             "a kernel that is missing is waited for, compiled meanwhile, or not compiled"},
    Variable{"TESSERA_RECORDS", Kind::path, "a file", "", "measured plans of this machine"},
    Variable{"TESSERA_PLANS", Kind::path, "a file", "", "frozen plans: same plan, same bits"},
    Variable{"TESSERA_CACHE_DIR", Kind::path, "a folder", "",
             "kernel cache; unset: $XDG_CACHE_HOME/tessera, else ~/.cache/tessera"},
    Variable{"TESSERA_CACHE_MAX_MB", Kind::megabytes, "megabytes", "1024",
             "size above which the cache drops its oldest kernels"},
    Variable{"TESSERA_ARCH", Kind::name, "an architecture", "",
             "compile for it, as sm_90a; unset: the device's"},
    Variable{"TESSERA_NVRTC", Kind::path, "a file", "", "the NVRTC library to use; unset: search"},
    Variable{"TESSERA_DUMP", Kind::list, "pass|cuda|ptx|sass", "",
             "stages to print of every kernel compiled; bypasses the cache"},
    Variable{"TESSERA_DUMP_DIR", Kind::path, "a folder", "",
             "dumps go to files there, named by kernel and digest; unset: to stderr"},
    Variable{"TESSERA_LOG", Kind::list, "dispatch|compile|cache", "",
             "what to report on stderr while running"},
    Variable{"TESSERA_UPDATE_GOLDEN", Kind::flag, "0|1", "0", "tests rewrite their golden texts"},
};

constexpr std::uint64_t kMostMegabytes =
    std::numeric_limits<std::uint64_t>::max() >> 20U;  // bytes fit 64 bits

}  // namespace

std::span<const Variable> table() {
  return kTable;
}

const Variable* find(std::string_view name) {
  const auto* found = std::ranges::find(kTable, name, &Variable::name);
  return found == kTable.end() ? nullptr : found;
}

const Variable& nearest(std::string_view name) {
  return *std::ranges::min_element(kTable, {},
                                   [&](const Variable& v) { return tessera::edit_distance(name, v.name); });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<std::uint64_t> megabytes(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || number > kMostMegabytes) return std::nullopt;
  return number;
}

bool legal(const Variable& variable, std::string_view value) {
  const auto words = split(variable.values, '|');
  const auto is_word = [&](std::string_view item) { return std::ranges::find(words, item) != words.end(); };
  switch (variable.kind) {
    case Kind::choice:
    case Kind::flag:
      return is_word(value);
    case Kind::list: {
      const auto items = split(value, ',');
      return !items.empty() && std::ranges::all_of(items, is_word);
    }
    case Kind::megabytes:
      return megabytes(value).has_value();
    case Kind::path:
    case Kind::name:
      return true;
  }
  return false;
}

std::string legal_values(const Variable& variable) {
  auto words = fmt::format("{}", fmt::join(split(variable.values, '|'), ", "));
  switch (variable.kind) {
    case Kind::choice:
    case Kind::flag:
      return "one of " + words;
    case Kind::list:
      return "a list, separated by commas, of " + words;
    case Kind::megabytes:
      return fmt::format("a whole number of megabytes from 0 to {}", kMostMegabytes);
    case Kind::path:
    case Kind::name:
      break;
  }
  return words;
}

}  // namespace tessera::env
