#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tile_core/runtime/cubin.h"

/// Compiled kernels on disk, shared by processes without locks: a file appears whole, by a rename, or not at
/// all. A place that cannot be used gives one warning, and this process then keeps kernels in memory only.
namespace tessera::disk_cache {

/// The kernel of this key; none where it is missing or its file is bad (it will then be compiled and
/// replaced).
std::optional<Cubin> read(const std::string& key);

/// Keeps the kernel, and drops the least recently used ones above TESSERA_CACHE_MAX_MB.
void write(const Cubin& cubin);

/// Why the kernel of this key, which this process has, is not in the cache: the place cannot be used, the
/// size limit is too small, TESSERA_DUMP goes around it. Empty where it is there.
std::string why_not_kept(const std::string& key);

/// What this process did.
struct Statistics {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;    ///< bad entries included
  std::uint64_t rejected = 0;  ///< bad entries
  std::uint64_t written = 0;
  std::uint64_t dropped = 0;  ///< for the size limit
};
Statistics statistics();
void reset_statistics();

/// For the command line: the cache of all versions.
struct Item {
  std::string version;  ///< of the Tessera that wrote it
  std::string file;     ///< its path
  std::size_t bytes = 0;
  std::int64_t used = 0;  ///< seconds since 1970
  std::string kernel;     ///< empty where the entry is bad
  std::string arch;
  std::string problem;  ///< why it is bad
};
std::vector<Item> list();

/// Removes every kernel and unfinished file; returns how many kernels. Nothing else in the folder is touched.
std::size_t clear();

/// Removes the bad kernels and returns them.
std::vector<Item> verify();

}  // namespace tessera::disk_cache
