#include "tile_core/runtime/subprocess.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tile_core/base/error.h"
#include "tile_core/runtime/file.h"

namespace tessera {
namespace {

std::string read_to_end(int fd) {
  std::string output;
  std::array<char, 1U << 14U> block{};
  for (;;) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return output;
    output.append(block.data(), static_cast<std::size_t>(got));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kSignalBase = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
}

}  // namespace

SubprocessResult run_subprocess(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  const int piped = ::pipe2(ends.data(), O_CLOEXEC);
  FileDescriptor output(piped == 0 ? ends[0] : -1);
  FileDescriptor input(piped == 0 ? ends[1] : -1);
  const FileDescriptor errors(
      ::memfd_create("stderr", MFD_CLOEXEC));  // never full, so one pipe is enough to wait for
  if (!output || !errors) throw UserError::format("cannot run {}: {}", command[0], std::strerror(errno));

  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors.get(), STDERR_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw UserError::format("cannot run {}: {}", command[0], std::strerror(error));

  input = FileDescriptor();  // so that the end of the child is the end of the pipe
  SubprocessResult result;
  result.output = read_to_end(output.get());
  result.exit_code = wait_for(child);
  ::lseek(errors.get(), 0, SEEK_SET);
  result.errors = read_to_end(errors.get());
  return result;
}

TemporaryFile::TemporaryFile(std::string_view content) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) folder = "/tmp";
  path_ = (folder / "tessera-XXXXXX").string();
  const FileDescriptor file(::mkostemp(path_.data(), O_CLOEXEC));
  if (file && write_all(file, content)) return;
  const int reason = errno;
  if (file) ::unlink(path_.c_str());
  throw UserError::format("cannot write {}: {}", path_, std::strerror(reason));
}

TemporaryFile::~TemporaryFile() {
  ::unlink(path_.c_str());
}

}  // namespace tessera
