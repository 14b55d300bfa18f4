#include "tile_core/runtime/subprocess.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/support/environment.h"
#include "tests/support/temporary_folder.h"
#include "tile_core/base/error.h"

namespace tessera {
namespace {

TEST(Subprocess, ArgumentsNeedNoQuotes) {
  const SubprocessResult result = run_subprocess({"/bin/echo", "a b", "$HOME", "'\"\n"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "a b $HOME '\"\n\n");
}

TEST(Subprocess, GivesExitCodeSignalAndStderr) {
  const SubprocessResult failed = run_subprocess({"/bin/sh", "-c", "echo oops >&2; exit 3"});
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_EQ(failed.output, "");
  EXPECT_EQ(failed.errors, "oops\n");
  EXPECT_EQ(run_subprocess({"/bin/sh", "-c", "kill -9 $$"}).exit_code, 137);
}

TEST(Subprocess, AMissingProgramIsAnError) {
  try {
    run_subprocess({"/nowhere/tool"});
    ADD_FAILURE() << "it ran";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "cannot run /nowhere/tool: No such file or directory");
  }
}

TEST(TemporaryFile, HoldsItsContentAndGoes) {
  std::string path;
  {
    const TemporaryFile file("content");
    path = file.path();
    EXPECT_EQ(test::read_file(path), "content");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// While it lives, no file of this process can grow.
class NoRoomForFiles {
 public:
  NoRoomForFiles() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{0, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~NoRoomForFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  NoRoomForFiles(const NoRoomForFiles&) = delete;
  NoRoomForFiles& operator=(const NoRoomForFiles&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_ = ::signal(SIGXFSZ, SIG_IGN);  // a write then fails instead
};

TEST(TemporaryFile, ThatCannotBeWrittenLeavesNothing) {
  const test::TemporaryFolder folder;
  const test::ScopedVariable place("TMPDIR", folder.path().string());
  {
    const NoRoomForFiles limit;
    EXPECT_THROW(TemporaryFile("content"), UserError);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace tessera
