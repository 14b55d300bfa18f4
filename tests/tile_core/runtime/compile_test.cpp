#include "tile_core/runtime/compile.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

#include "tests/support/environment.h"
#include "tests/support/temporary_folder.h"
#include "tests/tile_core/runtime/kernels.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/nvrtc.h"

namespace tessera {
namespace {

using test::ScopedVariable;

template <typename Error, typename Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

Target unknown_target(const std::string& arch) {
  Target target = Target::named("sm_80");
  target.arch = arch;
  return target;
}

// B120: the cache and the driver get cubins for exactly one architecture.
TEST(Compile, B120GivesCubinsForEveryTarget) {
  for (const Target& target : Target::all()) {
    const Cubin cubin = compile(test::small_kernel(1), target);
    EXPECT_TRUE(is_cubin(cubin.image)) << target.arch;
    EXPECT_EQ(cubin.arch, target.arch);
    EXPECT_EQ(cubin.kernel, "small_1");
    EXPECT_EQ(cubin.nvrtc, Nvrtc::get().version());
    EXPECT_GT(cubin.registers, 0) << cubin.log;
    EXPECT_GT(cubin.compile_ms, 0);
    EXPECT_TRUE(cubin.complaints().empty()) << cubin.log;
    EXPECT_TRUE(cubin.ptx.empty());
  }
}

TEST(Compile, GivesPtxWhereAskedFor) {
  const Cubin cubin = compile(test::small_kernel(1), Target::named("sm_90a"), {.keep_ptx = true});
  EXPECT_NE(cubin.ptx.find(".entry small_1"), std::string::npos) << cubin.ptx;
}

TEST(Compile, ReportsStackAndSpills) {
  const KernelText kernel{
      .name = "stack",
      .text =
          "extern \"C\" __global__ void stack(float* a) { float b[100]; for (int i = 0; i < 100; ++i) b[i] = "
          "a[i]; a[0] = b[(int)a[1]]; }",
      .threads = 32};
  const Cubin cubin = compile(kernel, Target::named("sm_90a"));
  EXPECT_EQ(cubin.stack_bytes, 400);
  EXPECT_EQ(cubin.complaints(), std::vector<std::string>{"400 bytes of stack per thread"});
}

// B123: the error holds the compiler's log with the place in the operator's file, not the whole text.
TEST(Compile, B123RejectedTextGivesTheLog) {
  const std::string text =
      message_of<InternalError>([] { compile(test::broken_kernel(1), Target::named("sm_90a")); });
  EXPECT_TRUE(text.starts_with(
      fmt::format("internal tessera error: NVRTC {} rejected kernel broken_1 for sm_90a "
                  "(NVRTC_ERROR_COMPILATION):\noperator.cpp(41): error: identifier \"undeclared\" is "
                  "undefined\n",
                  Nvrtc::get().version())))
      << text;
  EXPECT_TRUE(text.ends_with("\nsee the text with TESSERA_DUMP=cuda")) << text;
  EXPECT_EQ(text.find("a long text"), std::string::npos) << text;
}

// B117: an architecture that this NVRTC does not know, newer or older.
TEST(Compile, B117UnknownArchitectureSaysWhatToDo) {
  for (const char* arch : {"sm_999", "sm_50", "sm_60", "compute_130", "nonsense"}) {
    const std::string text =
        message_of<UserError>([&] { compile(test::small_kernel(1), unknown_target(arch)); });
    const Nvrtc& nvrtc = Nvrtc::get();
    EXPECT_TRUE(
        text.starts_with(fmt::format("NVRTC {} ({}) does not know the architecture {}; it compiles for sm_",
                                     nvrtc.version(), nvrtc.path(), arch)))
        << text;
    EXPECT_TRUE(
        text.ends_with(".\nUse a newer CUDA toolkit or torch (TESSERA_NVRTC names another NVRTC), another "
                       "TESSERA_ARCH, or TESSERA_POLICY=native"))
        << text;
  }
}

TEST(Compile, MissingNvrtcListsWhatWasTried) {
  const ScopedVariable nowhere("TESSERA_NVRTC", "/nowhere/libnvrtc.so");
  EXPECT_EQ(message_of<UserError>([] { compile(test::small_kernel(1), Target::named("sm_90a")); }),
            "TESSERA_NVRTC=/nowhere/libnvrtc.so: NVRTC, the CUDA run-time compiler, was not found; tried:\n"
            "  /nowhere/libnvrtc.so: /nowhere/libnvrtc.so: cannot open shared object file: No such file or "
            "directory\n"
            "NVRTC comes with torch's CUDA build (nvidia/cu13/lib) and with the CUDA toolkit; TESSERA_NVRTC "
            "names one; unset it to search for NVRTC");
}

TEST(Compile, ALibraryThatIsNoNvrtcIsNamed) {
  const ScopedVariable libc("TESSERA_NVRTC", "libc.so.6");
  const std::string text =
      message_of<UserError>([] { compile(test::small_kernel(1), Target::named("sm_90a")); });
  EXPECT_TRUE(text.starts_with("TESSERA_NVRTC=libc.so.6: /")) << text;
  EXPECT_TRUE(
      text.ends_with("/libc.so.6 is no NVRTC: it has no function nvrtcVersion; unset it to search for NVRTC"))
      << text;
}

TEST(Compile, ALoadedNvrtcIsTriedFirst) {
  const std::string loaded = Nvrtc::get().path();
  const ScopedVariable search("TESSERA_NVRTC", "");
  ASSERT_FALSE(nvrtc_candidates().empty());
  EXPECT_EQ(nvrtc_candidates().front(), loaded);
}

TEST(Compile, TheToolkitsFolderIsSearched) {
  const test::TemporaryFolder toolkit;
  std::filesystem::create_directory(toolkit / "lib64");
  test::write_file(toolkit / "lib64" / "libnvrtc.so.13", "");
  const ScopedVariable search("TESSERA_NVRTC", "");
  const ScopedVariable home("CUDA_HOME", toolkit.path());
  const auto candidates = nvrtc_candidates();
  EXPECT_NE(std::ranges::find(candidates, (toolkit / "lib64" / "libnvrtc.so.13").string()), candidates.end());
}

TEST(Compile, AFolderThatCannotBeReadDoesNotEndTheSearch) {
  const ScopedVariable search("TESSERA_NVRTC", "");
  const auto candidates_with = [](const std::string& toolkit) {
    const ScopedVariable home("CUDA_HOME", toolkit);
    return nvrtc_candidates();
  };
  const std::string too_long =
      "/" + std::string(1000, 'x');  // for a name, so that the system refuses to look
  EXPECT_EQ(candidates_with(too_long), candidates_with("/nowhere"));
}

// B118: NVRTC opens its second library by a bare name; the one that lies beside it is what it finds.
TEST(Compile, B118BuiltinsBesideNvrtcAreUsed) {
  const std::string folder = folder_of(Nvrtc::get().path());
  compile(test::small_kernel(1), Target::named("sm_90a"));
  const auto loaded = loaded_libraries("libnvrtc-builtins.so");
  ASSERT_EQ(loaded.size(), 1U);
  EXPECT_EQ(std::filesystem::canonical(folder_of(loaded[0])), std::filesystem::canonical(folder));
}

// B118: that library is broken: a library without functions has its place.
TEST(Compile, B118BrokenBuiltinsGiveNvrtcsLogAndTheName) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink(TESSERA_TEST_NVRTC, folder / "libnvrtc.so.13");
  std::filesystem::copy_file(TESSERA_EMPTY_BUILTINS, folder / TESSERA_BUILTINS_NAME);
  const ScopedVariable nvrtc("TESSERA_NVRTC", folder / "libnvrtc.so.13");
  const auto compile_and_report = [] {
    std::fputs(message_of<UserError>([] { compile(test::small_kernel(1), Target::named("sm_90a")); }).c_str(),
               stderr);
    std::_Exit(0);
  };
  EXPECT_EXIT(compile_and_report(), testing::ExitedWithCode(0),
              "NVRTC .* \\(.*/libnvrtc.so.13\\) cannot load its second library, " TESSERA_BUILTINS_NAME
              ", which must lie beside it:\nnvrtc: error: " TESSERA_BUILTINS_NAME
              " is corrupted.*\nInstall both from one CUDA toolkit or torch wheel, or name another NVRTC "
              "with TESSERA_NVRTC");
}

}  // namespace
}  // namespace tessera
