#include <algorithm>
#include <chrono>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <numeric>

#include "tile_core/base/env.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/cache_folder.h"
#include "tile_core/runtime/disk_cache.h"
#include "tools/command.h"

namespace tessera::tools {
namespace {

constexpr double kMegabyte = 1 << 20;

void print_size(const std::vector<disk_cache::Item>& items, const std::string& path) {
  const std::size_t bytes =
      std::accumulate(items.begin(), items.end(), std::size_t{0},
                      [](std::size_t sum, const auto& item) { return sum + item.bytes; });
  fmt::print("{}: kernels: {}, {:.1f} of {:.0f} MB\n", path, items.size(),
             static_cast<double>(bytes) / kMegabyte, static_cast<double>(env::cache_max_bytes()) / kMegabyte);
}

void print_item(const disk_cache::Item& item) {
  fmt::print("{:%Y-%m-%d %H:%M}  {:>7.1f} KB  {:<8} {:<8} {}\n",
             std::chrono::sys_seconds(std::chrono::seconds(item.used)),
             static_cast<double>(item.bytes) / 1024, item.version, item.arch,
             item.problem.empty() ? item.kernel : fmt::format("{} ({})", item.file, item.problem));
}

int list(const std::string& path) {
  std::vector<disk_cache::Item> items = disk_cache::list();
  std::ranges::sort(items, std::ranges::greater{}, &disk_cache::Item::used);
  if (!items.empty()) fmt::print("last used (UTC)        size  version  arch     kernel\n");
  for (const disk_cache::Item& item : items) print_item(item);
  print_size(items, path);
  return kOk;
}

int size(const std::string& path) {
  print_size(disk_cache::list(), path);
  return kOk;
}

int verify(const std::string& path) {
  const std::vector<disk_cache::Item> bad = disk_cache::verify();
  for (const disk_cache::Item& item : bad) fmt::print("removed {}: {}\n", item.file, item.problem);
  fmt::print("{}: bad kernels removed: {}; they will be compiled again when they are needed\n", path,
             bad.size());
  return bad.empty() ? kOk : kFailed;
}

int clear(const std::string& path) {
  fmt::print("{}: kernels removed: {}\n", path, disk_cache::clear());
  return kOk;
}

struct Action {
  std::string_view name;
  int (*run)(const std::string& path);
};
constexpr Action kActions[] = {{"list", list}, {"size", size}, {"verify", verify}, {"clear", clear}};

error_t take_action(int key, char* word, argp_state* state) {
  const auto** action = static_cast<const Action**>(state->input);
  if (key == ARGP_KEY_NO_ARGS) {
    argp_error(state, "expected list, size, verify or clear");
    return EINVAL;
  }
  if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
  if (*action != nullptr) {
    argp_error(state, "'%s' is one word too many after %s", word, (*action)->name.data());
    return EINVAL;
  }
  const auto* found = std::ranges::find(kActions, word, &Action::name);
  if (found == std::end(kActions)) {
    argp_error(state, "expected list, size, verify or clear but got '%s'", word);
    return EINVAL;
  }
  *action = found;
  return 0;
}

}  // namespace

int cache(int argc, char** argv) {
  const Action* action = nullptr;
  parse_words({nullptr, take_action, "list|size|verify|clear",
               "The cache of compiled kernels: list them, the newest use first; sum their sizes; verify them "
               "and remove "
               "bad ones (exit code 1 where there are any); or remove all.",
               nullptr, nullptr, nullptr},
              argc, argv, &action);
  const CachePlace place = cache_place();
  if (place.path.empty())
    throw UserError::format("there is no cache: {}; set TESSERA_CACHE_DIR", place.problem);
  if (const OpenedFolder root = open_cache_root(place.path, /*create=*/false); !root.problem.empty())
    throw UserError::format("{} is no cache that can be used: {}; set TESSERA_CACHE_DIR to a folder of yours",
                            place.path, root.problem);
  return action->run(place.path);
}

}  // namespace tessera::tools
