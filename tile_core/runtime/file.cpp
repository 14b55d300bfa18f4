#include "tile_core/runtime/file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tessera {
namespace {

constexpr std::string_view kUnfinished = ".unfinished-";

std::string unfinished_name() {
  static std::atomic<unsigned> counter{std::random_device{}()};
  return fmt::format("{}{}-{:x}", kUnfinished, ::getpid(), counter++);
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

bool write_all(const FileDescriptor& file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool read_own_file(const FileDescriptor& folder, const std::string& name, std::string& content) {
  const FileDescriptor file(
      ::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) {
    errno = EPERM;
    return false;
  }
  content.resize(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < content.size()) {
    const ssize_t got = ::read(file.get(), content.data() + have, content.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  content.resize(have);
  return true;
}

bool replace_file(const FileDescriptor& folder, const std::string& name, std::string_view content) {
  constexpr mode_t kOwnerOnly = 0600;
  const std::string unfinished = unfinished_name();
  const FileDescriptor file(::openat(folder.get(), unfinished.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnerOnly));
  if (!file) return false;
  const bool done = write_all(file, content) && ::fsync(file.get()) == 0 &&
                    ::renameat(folder.get(), unfinished.c_str(), folder.get(), name.c_str()) == 0;
  if (done) return true;
  const int reason = errno;
  ::unlinkat(folder.get(), unfinished.c_str(), 0);
  errno = reason;
  return false;
}

bool is_unfinished(std::string_view name) {
  return name.starts_with(kUnfinished);
}

std::vector<FolderItem> items_of(const FileDescriptor& folder) {
  std::vector<FolderItem> items;
  const int own = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = own < 0 ? nullptr : ::fdopendir(own);
  if (stream == nullptr) {
    if (own >= 0) ::close(own);
    return items;
  }
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    struct stat status {};
    if (name == "." || name == ".." ||
        ::fstatat(folder.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) continue;
    items.push_back({std::string(name), static_cast<std::size_t>(status.st_size), status.st_mtim,
                     S_ISDIR(status.st_mode)});
  }
  ::closedir(stream);
  return items;
}

}  // namespace tessera
