#include <unistd.h>

#include "tile_core/base/error.h"
#include "tile_core/runtime/cache_entry.h"
#include "tile_core/runtime/cache_folder.h"
#include "tile_core/runtime/cache_limit.h"
#include "tile_core/runtime/disk_cache.h"

// list, clear and verify: what `tessera cache` does.
namespace tessera::disk_cache {
namespace {

Item inspect(const FileDescriptor& folder, const std::string& path, const std::string& folder_name,
             const FolderItem& file) {
  Item item{.version = folder_name.substr(folder_name.find('-') + 1),
            .file = fmt::format("{}/{}/{}", path, folder_name, file.name),
            .bytes = file.bytes,
            .used = file.modified.tv_sec};
  std::string bytes;
  if (!read_own_file(folder, file.name, bytes)) {
    item.problem = "cannot be read";
    return item;
  }
  const DecodedEntry entry = decode_entry(bytes, file.name.substr(0, file.name.size() - kEntrySuffix.size()));
  item.problem = entry.problem;
  if (entry.cubin) {
    item.kernel = entry.cubin->kernel;
    item.arch = entry.cubin->arch;
  }
  return item;
}

}  // namespace

std::vector<Item> list() {
  const std::string path = cache_place().path;
  std::vector<Item> found;
  for_each_kernels_folder(path,
                          [&](const FileDescriptor& folder, const std::string& name, const auto& items) {
                            for (const FolderItem& file : items) {
                              if (is_entry(file.name)) found.push_back(inspect(folder, path, name, file));
                            }
                          });
  return found;
}

std::size_t clear() {
  std::size_t removed = 0;
  for_each_kernels_folder(cache_place().path,
                          [&](const FileDescriptor& folder, const std::string&, const auto& items) {
                            for (const FolderItem& file : items) {
                              if (!is_entry(file.name) && !is_unfinished(file.name)) continue;
                              if (::unlinkat(folder.get(), file.name.c_str(), 0) == 0 && is_entry(file.name))
                                ++removed;
                            }
                          });
  return removed;
}

std::vector<Item> verify() {
  std::vector<Item> bad = list();
  std::erase_if(bad, [](const Item& item) { return item.problem.empty(); });
  for (const Item& item : bad) ::unlink(item.file.c_str());
  return bad;
}

}  // namespace tessera::disk_cache
