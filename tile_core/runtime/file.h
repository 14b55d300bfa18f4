#pragma once
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// A POSIX file descriptor that closes itself. -1: none; `errno` then says why.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Writes to an open file; false, with `errno`, on failure.
bool write_all(const FileDescriptor& file, std::string_view content);

/// The content of a regular file in `folder` that this user owns; false, with `errno`, where it is missing, a
/// link, something else or someone else's.
bool read_own_file(const FileDescriptor& folder, const std::string& name, std::string& content);

/// Writes mode 0600 under another name, syncs and renames: readers see the old file or the whole new one.
/// False, with `errno`, on failure; nothing is left behind then. A link at `name` is replaced, not followed.
bool replace_file(const FileDescriptor& folder, const std::string& name, std::string_view content);

/// Whether `replace_file` gives its unfinished files such names.
bool is_unfinished(std::string_view name);

struct FolderItem {
  std::string name;
  std::size_t bytes = 0;
  timespec modified{};
  bool is_folder = false;
};

/// Regular files and folders in an open folder; links are left out.
std::vector<FolderItem> items_of(const FileDescriptor& folder);

}  // namespace tessera
