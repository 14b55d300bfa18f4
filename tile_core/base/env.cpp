#include "tile_core/base/env.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

#include "tile_core/base/env_table.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"

namespace tessera::env {
namespace {

std::string system_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string read(std::string_view name) {
  static std::once_flag once;
  std::call_once(once, warn_of_unknown);
  const Variable* variable = find(name);
  if (variable == nullptr) throw InternalError::format("the environment table does not declare {}", name);
  std::string value = system_variable(variable->name.data());
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

std::atomic<std::uint32_t>& generation_counter() {
  static std::atomic<std::uint32_t> counter{1};
  return counter;
}

}  // namespace

std::string print_table() {
  std::string text;
  for (const Variable& variable : table()) {
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

void check() {
  for (const Variable& variable : table()) read(variable.name);
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
  std::string home = system_variable("CUDA_HOME");
  return home.empty() ? system_variable("CUDA_PATH") : home;
}

std::string search_path() {
  return system_variable("PATH");
}

void warn_of_unknown() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view assignment = *entry;
    const std::string_view name = assignment.substr(0, assignment.find('='));
    if (!name.starts_with("TESSERA_") || find(name) != nullptr) continue;
    log::warn_once(
        name, fmt::format("{} is not a variable of Tessera; the nearest is {}, `tessera env` lists all", name,
                          nearest(name).name));
  }
}

void reload() {
  ++generation_counter();
}

std::uint32_t generation() {
  return generation_counter().load(std::memory_order_acquire);
}

}  // namespace tessera::env
