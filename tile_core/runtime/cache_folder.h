#pragma once
#include <string>

#include "tile_core/runtime/file.h"

namespace tessera {

/// Where the kernel cache lies: TESSERA_CACHE_DIR, else $XDG_CACHE_HOME/tessera, else ~/.cache/tessera (HOME,
/// else the user's entry in the password file). Kernels lie in one folder per version of Tessera,
/// "kernels-0.1.0".
struct CachePlace {
  std::string path;     ///< absolute; a relative one is resolved against the working folder of its first use
  std::string problem;  ///< why there is no place; the path is empty then
};
CachePlace cache_place();

/// The name of this version's folder of kernels, and whether a name is that of any version.
std::string kernels_folder_name();
bool is_kernels_folder(std::string_view name);

struct OpenedFolder {
  FileDescriptor folder;
  std::string problem;  ///< why it may not be used; empty where it just does not exist and `create` is false
};

/// Opens a cache's root. `create` makes it and its missing parents, mode 0700. Refused: a folder that another
/// user owns.
OpenedFolder open_cache_root(const std::string& path, bool create);

/// Opens a folder of kernels in it. One that is ours but open to others is closed to them (mode 0700).
OpenedFolder open_kernels(const FileDescriptor& root, const std::string& name, bool create);

}  // namespace tessera
