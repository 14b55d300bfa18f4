#include "tile_core/runtime/disk_cache.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

#include "tile_core/base/env.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"
#include "tile_core/runtime/cache_entry.h"
#include "tile_core/runtime/cache_folder.h"
#include "tile_core/runtime/cache_limit.h"

namespace tessera::disk_cache {
namespace {

struct Counters {
  std::atomic<std::uint64_t> hits, misses, rejected, written, dropped;
};
Counters counters;

// Places that failed once: they are left alone until the process ends.
struct Unusable {
  std::mutex mutex;
  std::map<std::string, std::string> problems;  // by path
};

Unusable& unusable() {
  static auto* leaked = new Unusable;
  return *leaked;
}

/// Empty: the place has not failed.
std::string known_problem(const std::string& path) {
  const std::scoped_lock lock(unusable().mutex);
  const auto found = unusable().problems.find(path);
  return found == unusable().problems.end() ? "" : found->second;
}

std::string name_of(const CachePlace& place) {
  return place.path.empty() ? "no folder for the kernel cache" : "the kernel cache in " + place.path;
}

void give_up(const CachePlace& place, const std::string& problem) {
  {
    const std::scoped_lock lock(unusable().mutex);
    unusable().problems.emplace(place.path, problem);
  }
  log::warn_once(
      "cache " + place.path,
      fmt::format("{} cannot be used: {}. Kernels are kept in memory only and compiled again by the next "
                  "process; TESSERA_CACHE_DIR names another folder",
                  name_of(place), problem));
}

// The folder of this version's kernels; none, after a warning where there is a problem, if it cannot be used.
FileDescriptor open_place(const CachePlace& place, bool create) {
  if (!known_problem(place.path).empty()) return FileDescriptor();
  std::string problem = place.problem;
  if (problem.empty()) {
    OpenedFolder root = open_cache_root(place.path, create);
    problem = root.problem;
    if (root.folder) {
      OpenedFolder kernels = open_kernels(root.folder, kernels_folder_name(), create);
      if (kernels.folder) return std::move(kernels.folder);
      problem = kernels.problem;
    }
  }
  if (!problem.empty() || create) give_up(place, problem.empty() ? "it vanished" : problem);
  return FileDescriptor();
}

std::optional<Cubin> miss(const std::string& file) {
  ++counters.misses;
  if (log::enabled(log::Topic::cache)) log::info(log::Topic::cache, "miss: " + file);
  return std::nullopt;
}

/// For people: where an entry of this version lies.
std::string file_of(const CachePlace& place, const std::string& name) {
  if (place.path.empty()) return name_of(place);
  return fmt::format("{}/{}/{}", place.path, kernels_folder_name(), name);
}

/// "hit: FILE, 9 bytes: kernel add_one for sm_90a"
void report(std::string_view what, const std::string& file, std::size_t bytes, const Cubin& cubin) {
  if (!log::enabled(log::Topic::cache)) return;
  log::info(log::Topic::cache,
            fmt::format("{}: {}, {} bytes: kernel {} for {}", what, file, bytes, cubin.kernel, cubin.arch));
}

}  // namespace

std::optional<Cubin> read(const std::string& key) {
  const CachePlace place = cache_place();
  const FileDescriptor folder = open_place(place, false);
  const std::string name = key + std::string(kEntrySuffix), file = file_of(place, name);
  if (!folder) return miss(file);
  std::string bytes;
  DecodedEntry entry;
  if (read_own_file(folder, name, bytes)) {
    entry = decode_entry(bytes, key);
  } else if (errno != ENOENT) {
    entry.problem = fmt::format("cannot be read ({})", std::strerror(errno));
  }
  if (!entry.problem.empty()) {
    ++counters.rejected;
    log::info(log::Topic::cache, fmt::format("rejected: {} {}; compiling again", file, entry.problem));
  }
  if (!entry.cubin) return miss(file);
  ::utimensat(folder.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // the size limit drops the oldest
  ++counters.hits;
  report("hit", file, bytes.size(), *entry.cubin);
  return std::move(entry.cubin);
}

void write(const Cubin& cubin) {
  const CachePlace place = cache_place();
  const FileDescriptor folder = open_place(place, true);
  if (!folder) return;
  const std::string name = cubin.key + std::string(kEntrySuffix), bytes = encode_entry(cubin);
  if (!replace_file(folder, name, bytes)) {
    give_up(place, std::strerror(errno));
    return;
  }
  ++counters.written;
  report("written", file_of(place, name), bytes.size(), cubin);
  counters.dropped += drop_oldest(place.path);
}

std::string why_not_kept(const std::string& key) {
  const CachePlace place = cache_place();
  const FileDescriptor folder = open_place(place, false);
  const std::string name = key + std::string(kEntrySuffix);
  if (folder && ::faccessat(folder.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return "";
  if (const std::string problem = known_problem(place.path); !problem.empty())
    return fmt::format("{} cannot be used: {}", name_of(place), problem);
  if (env::dumps_anything()) return "TESSERA_DUMP goes around it";
  return fmt::format("TESSERA_CACHE_MAX_MB={} leaves no room in {}", env::cache_max_bytes() >> 20U,
                     place.path);
}

Statistics statistics() {
  return {counters.hits, counters.misses, counters.rejected, counters.written, counters.dropped};
}

void reset_statistics() {
  counters.hits = counters.misses = counters.rejected = counters.written = counters.dropped = 0;
}

}  // namespace tessera::disk_cache
