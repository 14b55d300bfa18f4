#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "tile_core/runtime/file.h"

namespace tessera::disk_cache {

inline constexpr std::string_view kEntrySuffix = ".kernel";

/// Whether a file's name is that of a kernel: a digest and the suffix. Only such files are ever removed.
bool is_entry(std::string_view name);

/// Calls `visit(folder of kernels, its name, items)` for every version's folder of the cache at `path`.
using VisitFolder =
    std::function<void(const FileDescriptor&, const std::string&, const std::vector<FolderItem>&)>;
void for_each_kernels_folder(const std::string& path, const VisitFolder& visit);

/// Removes least recently used kernels until the cache holds at most TESSERA_CACHE_MAX_MB, and what killed
/// processes left unfinished an hour ago. Returns the number of kernels removed.
std::size_t drop_oldest(const std::string& path);

}  // namespace tessera::disk_cache
