#include "tile_core/runtime/cache_folder.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "tile_core/base/env.h"
#include "tile_core/base/error.h"
#include "tile_core/base/version.h"

namespace tessera {
namespace {

constexpr mode_t kOwnerOnly = 0700;
constexpr std::string_view kKernels = "kernels-";

// A later chdir must not move the cache: each relative path is resolved once.
std::string resolved(const std::string& path) {
  static std::mutex mutex;
  static auto* first_use = new std::map<std::string, std::string>;
  const std::scoped_lock lock(mutex);
  auto [entry, is_new] = first_use->try_emplace(path);
  if (is_new) {
    std::error_code error;
    entry->second = std::filesystem::absolute(path, error).lexically_normal().string();
    if (error) entry->second = path;
  }
  return entry->second;
}

std::string home_folder() {
  if (std::string home = env::home(); !home.empty()) return home;
  std::vector<char> buffer(1U << 14U);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return "";
  const std::string home = found->pw_dir == nullptr ? "" : found->pw_dir;
  return home == "/" ? "" : home;  // system users: nothing may be written to the root folder
}

std::string reason() {
  return std::strerror(errno);
}

// An empty text: the folder is this user's.
std::string foreign_owner(const FileDescriptor& folder) {
  struct stat status {};
  if (::fstat(folder.get(), &status) != 0) return reason();
  if (status.st_uid == ::geteuid()) return "";
  return fmt::format("it belongs to user {}, not to {}", status.st_uid, ::geteuid());
}

// Like create_directories, but others may never enter what it makes, whatever the umask is.
bool make_folders(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), kOwnerOnly) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT || !path.has_relative_path() || !make_folders(path.parent_path())) return false;
  return ::mkdir(path.c_str(), kOwnerOnly) == 0 || errno == EEXIST;
}

}  // namespace

CachePlace cache_place() {
  if (const std::string chosen = env::cache_dir(); !chosen.empty()) return {resolved(chosen), ""};
  // The XDG specification: a relative path is invalid and ignored.
  if (const std::string xdg = env::xdg_cache_home(); xdg.starts_with('/')) return {xdg + "/tessera", ""};
  if (const std::string home = home_folder(); home.starts_with('/')) return {home + "/.cache/tessera", ""};
  return {"", "neither TESSERA_CACHE_DIR, XDG_CACHE_HOME, HOME nor the password file names a folder"};
}

std::string kernels_folder_name() {
  return std::string(kKernels) + std::string(version());
}

bool is_kernels_folder(std::string_view name) {
  return name.starts_with(kKernels);
}

OpenedFolder open_cache_root(const std::string& path, bool create) {
  if (create && !make_folders(path)) return {FileDescriptor(), reason()};
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return {FileDescriptor(), errno == ENOENT ? "" : reason()};
  if (std::string problem = foreign_owner(folder); !problem.empty()) return {FileDescriptor(), problem};
  return {std::move(folder), ""};
}

OpenedFolder open_kernels(const FileDescriptor& root, const std::string& name, bool create) {
  if (create && ::mkdirat(root.get(), name.c_str(), kOwnerOnly) != 0 && errno != EEXIST)
    return {FileDescriptor(), reason()};
  FileDescriptor folder(::openat(root.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return {FileDescriptor(), errno == ENOENT ? "" : reason()};
  if (std::string problem = foreign_owner(folder); !problem.empty()) return {FileDescriptor(), problem};
  ::fchmod(folder.get(), kOwnerOnly);  // where the file system has no modes, ownership has to do
  return {std::move(folder), ""};
}

}  // namespace tessera
