#include "tile_core/base/env.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fmt/ranges.h>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <unistd.h>
#include <vector>

#include "tile_core/base/error.h"
#include "tile_core/base/log.h"

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
    Variable{"TESSERA_DUMP_DIR", Kind::path, "a folder", "", "dumps go to files there; unset: to stderr"},
    Variable{"TESSERA_LOG", Kind::list, "dispatch|compile|cache", "",
             "what to report on stderr while running"},
    Variable{"TESSERA_UPDATE_GOLDEN", Kind::flag, "0|1", "0", "tests rewrite their golden texts"},
};

std::string system_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
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
  if (!whole || number > std::numeric_limits<std::uint64_t>::max() >> 20U) return std::nullopt;
  return number;
}

bool legal(const Variable& variable, std::string_view value) {
  const auto words = split(variable.values, '|');
  const auto is_word = [&](std::string_view item) { return std::ranges::find(words, item) != words.end(); };
  switch (variable.kind) {
    case Kind::choice:
    case Kind::flag:
      return is_word(value);
    case Kind::list:
      return std::ranges::all_of(split(value, ','), is_word);
    case Kind::megabytes:
      return megabytes(value).has_value();
    case Kind::path:
    case Kind::name:
      return true;
  }
  return false;
}

std::string legal_values(const Variable& variable) {
  const auto words = fmt::format("{}", fmt::join(split(variable.values, '|'), ", "));
  switch (variable.kind) {
    case Kind::choice:
    case Kind::flag:
      return "one of " + words;
    case Kind::list:
      return "a list, separated by commas, of " + words;
    case Kind::megabytes:
      return "a whole number of megabytes";
    case Kind::path:
    case Kind::name:
      break;
  }
  return words;
}

std::string read(std::string_view name) {
  static std::once_flag once;
  std::call_once(once, warn_of_unknown);
  const auto* variable = std::ranges::find(kTable, name, &Variable::name);
  if (variable == kTable.end())
    throw InternalError::format("the environment table does not declare {}", name);
  const std::string value = system_variable(variable->name.data());
  if (value.empty()) return std::string(variable->initial);
  if (!legal(*variable, value)) {
    throw UserError::format("{}={} is not legal: expected {}; unset it for the default '{}'", name, value,
                            legal_values(*variable), variable->initial);
  }
  return value;
}

bool lists(std::string_view name, std::string_view item) {
  const std::string value = read(name);
  const auto items = split(value, ',');
  return std::ranges::find(items, item) != items.end();
}

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

std::atomic<std::uint32_t>& generation_counter() {
  static std::atomic<std::uint32_t> counter{1};
  return counter;
}

}  // namespace

std::span<const Variable> table() {
  return kTable;
}

std::string print_table() {
  std::string text;
  for (const Variable& variable : kTable) {
    const std::string value = system_variable(variable.name.data());
    std::string shown =
        value.empty() ? std::string(variable.initial.empty() ? "-" : variable.initial) : value;
    if (!value.empty() && !legal(variable, value))
      shown += fmt::format(" (not legal: expected {})", legal_values(variable));
    text += fmt::format("{:<22} {} {:<14} {}  [{}; default {}]\n", variable.name, value.empty() ? ' ' : '*',
                        shown, variable.meaning, variable.values,
                        variable.initial.empty() ? "unset" : variable.initial);
  }
  return text + "* set in the environment\n";
}

JitMode jit() {
  const std::string value = read("TESSERA_JIT");
  return value == "off" ? JitMode::off : value == "background" ? JitMode::background : JitMode::block;
}

Policy policy() {
  const std::string value = read("TESSERA_POLICY");
  return value == "tile" ? Policy::tile : value == "native" ? Policy::native : Policy::automatic;
}

std::string cache_dir() {
  return read("TESSERA_CACHE_DIR");
}

std::uint64_t cache_max_bytes() {
  return megabytes(read("TESSERA_CACHE_MAX_MB")).value() << 20U;
}

bool dumps(std::string_view kind) {
  return lists("TESSERA_DUMP", kind);
}

bool dumps_anything() {
  return !read("TESSERA_DUMP").empty();
}

std::string dump_dir() {
  return read("TESSERA_DUMP_DIR");
}

bool logs(std::string_view channel) {
  return lists("TESSERA_LOG", channel);
}

std::string records() {
  return read("TESSERA_RECORDS");
}

std::string plans() {
  return read("TESSERA_PLANS");
}

std::string arch() {
  return read("TESSERA_ARCH");
}

std::string nvrtc() {
  return read("TESSERA_NVRTC");
}

bool update_golden() {
  return read("TESSERA_UPDATE_GOLDEN") == "1";
}

std::string home() {
  return system_variable("HOME");
}

std::string xdg_cache_home() {
  return system_variable("XDG_CACHE_HOME");
}

std::string cuda_home() {
  const std::string home = system_variable("CUDA_HOME");
  return home.empty() ? system_variable("CUDA_PATH") : home;
}

std::string search_path() {
  return system_variable("PATH");
}

void warn_of_unknown() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view assignment = *entry;
    const std::string_view name = assignment.substr(0, assignment.find('='));
    if (!name.starts_with("TESSERA_") || std::ranges::find(kTable, name, &Variable::name) != kTable.end())
      continue;
    const auto* nearest =
        std::ranges::min_element(kTable, {}, [&](const Variable& v) { return edit_distance(name, v.name); });
    log::warn_once(
        name, fmt::format("{} is not a variable of Tessera; the nearest is {}, `tessera env` lists all", name,
                          nearest->name));
  }
}

void reload() {
  ++generation_counter();
}

std::uint32_t generation() {
  return generation_counter().load(std::memory_order_acquire);
}

}  // namespace tessera::env
