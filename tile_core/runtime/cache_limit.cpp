#include "tile_core/runtime/cache_limit.h"

#include <algorithm>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

#include "tile_core/base/env.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"
#include "tile_core/runtime/cache_folder.h"
#include "tile_core/runtime/digest.h"

namespace tessera::disk_cache {
namespace {

constexpr std::time_t kUnfinishedSeconds = 3600;

struct Candidate {
  timespec used;
  std::size_t bytes;
  std::string folder;
  std::string name;
};

bool older(const Candidate& a, const Candidate& b) {
  return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
}

}  // namespace

bool is_entry(std::string_view name) {
  return name.ends_with(kEntrySuffix) && is_digest(name.substr(0, name.size() - kEntrySuffix.size()));
}

void for_each_kernels_folder(const std::string& path, const VisitFolder& visit) {
  const OpenedFolder root = open_cache_root(path, false);
  if (!root.folder) return;
  for (const FolderItem& item : items_of(root.folder)) {
    if (!item.is_folder || !is_kernels_folder(item.name)) continue;
    const OpenedFolder kernels = open_kernels(root.folder, item.name, false);
    if (kernels.folder) visit(kernels.folder, item.name, items_of(kernels.folder));
  }
}

std::size_t drop_oldest(const std::string& path) {
  const std::uint64_t limit = env::cache_max_bytes();
  std::vector<Candidate> entries;
  std::uint64_t total = 0;
  const std::time_t now = std::time(nullptr);
  for_each_kernels_folder(
      path, [&](const FileDescriptor& folder, const std::string& name, const auto& items) {
        for (const FolderItem& item : items) {
          if (is_unfinished(item.name) && now - item.modified.tv_sec > kUnfinishedSeconds) {
            ::unlinkat(folder.get(), item.name.c_str(), 0);
          }
          if (!is_entry(item.name)) continue;
          total += item.bytes;
          entries.push_back({item.modified, item.bytes, name, item.name});
        }
      });
  if (total <= limit) return 0;

  std::ranges::sort(entries, older);
  const OpenedFolder root = open_cache_root(path, false);
  std::size_t dropped = 0;
  for (const Candidate& entry : entries) {
    if (total <= limit || !root.folder) break;
    const std::string file = entry.folder + "/" + entry.name;
    if (::unlinkat(root.folder.get(), file.c_str(), 0) == 0) {
      ++dropped;
      log::info(log::Topic::cache, fmt::format("dropped: {}/{}, {} bytes: the cache held {}, above "
                                               "TESSERA_CACHE_MAX_MB={}",
                                               path, file, entry.bytes, total, limit >> 20U));
    }
    total -= entry.bytes;  // gone already: another process dropped it
  }
  return dropped;
}

}  // namespace tessera::disk_cache
