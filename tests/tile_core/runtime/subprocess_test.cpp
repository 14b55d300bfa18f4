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

/// Files of this process may have no more bytes than these.
class ScopedFileLimit {
 public:
  explicit ScopedFileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~ScopedFileLimit() { ::setrlimit(RLIMIT_FSIZE, &old_); }

 private:
  rlimit old_{};
};

TEST(TemporaryFile, GoesWhereItCannotBeWritten) {
  const test::TemporaryFolder folder;
  const test::ScopedVariable place("TMPDIR", folder.path().string());
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);  // write gives EFBIG instead
  std::string error;
  try {
    const ScopedFileLimit limit(4);
    const TemporaryFile file("content");
  } catch (const UserError& thrown) {
    error = thrown.what();
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(error.starts_with("cannot write " + (folder / "tessera-").string())) << error;
  EXPECT_TRUE(error.ends_with(": File too large")) << error;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace tessera
