#include "tile_core/runtime/kernel_store.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <pthread.h>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>

#include "tests/tile_core/runtime/cache_fixture.h"
#include "tests/tile_core/runtime/kernels.h"
#include "tests/tile_core/runtime/no_memory.h"
#include "tile_core/base/error.h"
#include "tile_core/dsl/builder.h"
#include "tile_core/passes/pipeline.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/executable.h"

namespace tessera {
namespace {

using State = Kernel::State;

const Target& hopper() {
  return Target::named("sm_90a");
}

class KernelStore : public test::CacheTest {
 protected:
  static std::uint64_t compiles() { return kernel_store::statistics().compiles; }
  bool cache_is_empty() const { return !std::filesystem::exists(place()) || disk_cache::list().empty(); }
};

TEST_F(KernelStore, EightThreadsCompileEachKernelOnce) {
  constexpr int kThreads = 8, kKernels = 6;
  const std::uint64_t before = compiles();
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int i = 0; i < kKernels; ++i) {
        const KernelText text = test::small_kernel(1000 + (i + t) % kKernels);
        Kernel& kernel = kernel_store::get(text, hopper());
        EXPECT_EQ(kernel.request(JitMode::block), State::ready);
        EXPECT_EQ(kernel.cubin().kernel, text.name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiles() - before, static_cast<std::uint64_t>(kKernels));
  EXPECT_EQ(disk_cache::list().size(), static_cast<std::size_t>(kKernels));
}

TEST_F(KernelStore, B98_B111TheSameTextForTwoArchitecturesIsTwoKernels) {
  Kernel& a = kernel_store::get(test::small_kernel(1), hopper());
  Kernel& b = kernel_store::get(test::small_kernel(1), Target::named("sm_80"));
  EXPECT_NE(&a, &b);
  EXPECT_EQ(a.request(JitMode::block), State::ready);
  EXPECT_EQ(b.request(JitMode::block), State::ready);
  EXPECT_EQ(a.cubin().arch, "sm_90a");
  EXPECT_EQ(b.cubin().arch, "sm_80");
  EXPECT_EQ(&a, &kernel_store::get(test::small_kernel(1), hopper()));
}

TEST_F(KernelStore, TheSameTextLaunchedInAnotherWayIsAnotherKernel) {
  KernelText text = test::small_kernel(1);
  text.maps = {{.contiguous = 1, .box = {128, 64}, .swizzle = 128}};
  const auto differs = [&](const auto& change) {
    KernelText other = text;
    change(other);
    return &kernel_store::get(other, hopper()) != &kernel_store::get(text, hopper());
  };
  EXPECT_FALSE(differs([](KernelText&) {}));
  EXPECT_TRUE(differs([](KernelText& k) { k.maps[0].box[0] = 64; }));
  EXPECT_TRUE(differs([](KernelText& k) { k.maps[0].tensor = 1; }));
  EXPECT_TRUE(differs([](KernelText& k) { k.maps.clear(); }));
  EXPECT_TRUE(differs([](KernelText& k) { k.persistent = true; }));
  EXPECT_TRUE(differs([](KernelText& k) { k.counter = true; }));
}

TEST_F(KernelStore, OffTakesFromTheCacheAndNeverCompiles) {
  const KernelText text = test::small_kernel(2);
  const std::uint64_t before = compiles();
  Kernel& kernel = kernel_store::get(text, hopper());
  EXPECT_EQ(kernel.request(JitMode::off), State::absent);
  EXPECT_EQ(kernel.request(JitMode::off), State::absent);
  EXPECT_EQ(compiles(), before);
  disk_cache::write(compile(text, hopper()));
  Kernel fresh(text, hopper());  // as in the next process
  EXPECT_EQ(fresh.request(JitMode::off), State::ready);
  EXPECT_EQ(compiles(), before);
  EXPECT_EQ(kernel.request(JitMode::block), State::ready) << "absent is not for good";
}

TEST_F(KernelStore, OffWaitsForAThreadThatReadsTheCache) {
  constexpr int kThreads = 8, kRounds = 50;
  const KernelText text = test::small_kernel(13);
  disk_cache::write(compile(text, hopper()));
  std::atomic<int> not_ready{0};
  for (int round = 0; round < kRounds; ++round) {
    Kernel fresh(text, hopper());
    std::barrier start(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        if (fresh.request(JitMode::off) != State::ready) ++not_ready;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(not_ready, 0);
}

TEST_F(KernelStore, KnowsWhetherTheCompilerRan) {
  const KernelText text = test::small_kernel(14);
  Kernel compiled(text, hopper()), read(text, hopper());
  EXPECT_FALSE(compiled.compiled());
  EXPECT_EQ(compiled.request(JitMode::block), State::ready);
  EXPECT_EQ(read.request(JitMode::block), State::ready);
  EXPECT_TRUE(compiled.compiled());
  EXPECT_FALSE(read.compiled());
}

TEST_F(KernelStore, ItsGenerationChangesWithWhatItAnswers) {
  Kernel kernel(test::broken_kernel(3), hopper());
  std::uint32_t before = kernel.generation();
  const auto changed = [&] { return std::exchange(before, kernel.generation()) != before; };
  kernel.request(JitMode::off);
  EXPECT_TRUE(changed());
  kernel.request(JitMode::off);
  EXPECT_FALSE(changed());
  kernel.request(JitMode::block);
  EXPECT_TRUE(changed());
  kernel.request(JitMode::block);
  EXPECT_FALSE(changed());
  kernel.forget_failure();
  EXPECT_TRUE(changed());
}

// In a process that cannot start a thread: a stack of 2^50 bytes fits into no address space.
void request_without_threads() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{1} << 50U);
  pthread_setattr_default_np(&attributes);
  Kernel kernel(test::small_kernel(15), hopper());
  const bool failed =
      kernel.request(JitMode::background) == State::failed && kernel.request(JitMode::block) == State::failed;
  std::fputs(failed ? kernel.failure().c_str() : "not failed", stderr);
  std::exit(failed ? 0 : 1);
}

TEST_F(KernelStore, ABackgroundThreadThatCannotStartIsAFailure) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, in which no thread waits for work
  EXPECT_EXIT(request_without_threads(), ::testing::ExitedWithCode(0),
              "no background compilation could be started: Resource temporarily unavailable");
}

TEST_F(KernelStore, BackgroundIsPendingAndThenReady) {
  Kernel& kernel = kernel_store::get(test::small_kernel(3), hopper());
  const State first = kernel.request(JitMode::background);
  EXPECT_TRUE(first == State::pending || first == State::ready);
  EXPECT_EQ(kernel.request(JitMode::block), State::ready) << "block waits for the thread that compiles";
}

TEST_F(KernelStore, ABackgroundFailureIsAState) {
  Kernel& kernel = kernel_store::get(test::broken_kernel(1), hopper());
  kernel.request(JitMode::background);
  EXPECT_EQ(kernel.request(JitMode::block), State::failed);
  EXPECT_NE(kernel.failure().find("identifier \"undeclared\" is undefined"), std::string::npos);
}

// In a process that has no thread for it yet.
TEST_F(KernelStore, AThreadThatCannotBeStartedIsAFailureToo) {
  const auto request_without_memory = [] {
    kernel_store::get(test::small_kernel(4), hopper()).request(JitMode::block);
    Kernel& kernel = kernel_store::get(test::small_kernel(5), hopper());
    {
      const test::NoMemoryForThreads limit;
      kernel.request(JitMode::background);
    }
    std::fprintf(stderr, "%s", kernel.failure().c_str());
    kernel_store::forget_failures();
    std::_Exit(kernel.request(JitMode::block) == State::ready ? 0 : 1);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(request_without_memory(), testing::ExitedWithCode(0), "Resource temporarily unavailable");
}

long resident_kib() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE) / 1024;
}

// B123: failures are remembered in memory with their message, never on disk, cost no memory, and end with the
// fault.
TEST_F(KernelStore, B123FailuresAreRememberedAndPoisonNothing) {
  Kernel& broken = kernel_store::get(test::broken_kernel(2), hopper());
  const std::uint64_t before = compiles();
  EXPECT_EQ(broken.request(JitMode::block), State::failed);
  const std::string message = broken.failure();
  EXPECT_EQ(broken.request(JitMode::block), State::failed);
  EXPECT_EQ(broken.failure(), message);
  EXPECT_EQ(compiles() - before, 1U) << "compiled again";
  EXPECT_TRUE(cache_is_empty());

  long settled = 0;
  for (int i = 0; i < 200; ++i) {
    kernel_store::forget_failures();
    ASSERT_EQ(broken.request(JitMode::block), State::failed);
    if (i == 50) settled = resident_kib();
  }
  EXPECT_LT(resident_kib() - settled, 20 * 1024) << "KiB more after 150 failures";
  EXPECT_EQ(compiles() - before, 201U);
  EXPECT_EQ(kernel_store::get(test::small_kernel(4), hopper()).request(JitMode::block), State::ready);
}

// B123: the fault was around the kernel, and is repaired in the same process.
TEST_F(KernelStore, B123WorksAfterTheSurroundingsAreRepaired) {
  Kernel& kernel = kernel_store::get(test::small_kernel(5), hopper());
  {
    const test::ScopedVariable nowhere("TESSERA_NVRTC", "/nowhere/libnvrtc.so");
    EXPECT_EQ(kernel.request(JitMode::block), State::failed);
    EXPECT_TRUE(kernel.failure().starts_with("TESSERA_NVRTC=/nowhere/libnvrtc.so: NVRTC"))
        << kernel.failure();
  }
  kernel_store::forget_failures();
  EXPECT_EQ(kernel.request(JitMode::block), State::ready);
}

TEST_F(KernelStore, AskingForWhatIsNotThereIsOurMistake) {
  Kernel& kernel = kernel_store::get(test::small_kernel(6), hopper());
  EXPECT_THROW(kernel.cubin(), InternalError);
  EXPECT_THROW(kernel.failure(), InternalError);
}

TEST_F(KernelStore, ACorruptEntryIsCompiledAgain) {
  const KernelText text = test::small_kernel(7);
  ASSERT_EQ(kernel_store::get(text, hopper()).request(JitMode::block), State::ready);
  const std::string file = disk_cache::list().at(0).file;
  const std::string good = test::read_file(file);
  const std::uint64_t before = compiles();
  for (const std::string& bad : {std::string(), good.substr(0, 200), std::string(good.size(), 'x')}) {
    test::write_file(file, bad);
    Kernel fresh(text, hopper());
    EXPECT_EQ(fresh.request(JitMode::block), State::ready);
    EXPECT_EQ(disk_cache::list().at(0).problem, "");
  }
  EXPECT_EQ(compiles() - before, 3U);
}

TEST_F(KernelStore, AnUnusableCacheCostsCompilationsOnly) {
  test::write_file(place(), "a file");
  Kernel first(test::small_kernel(8), hopper()), second(test::small_kernel(9), hopper());
  EXPECT_EQ(first.request(JitMode::block), State::ready);
  EXPECT_EQ(second.request(JitMode::block), State::ready);
  EXPECT_EQ(warnings().size(), 1U);
}

TEST_F(KernelStore, ADumpGoesAroundTheCacheOnDisk) {
  const KernelText text = test::small_kernel(10);
  ASSERT_EQ(Kernel(text, hopper()).request(JitMode::block), State::ready);
  const auto before = disk_cache::statistics();
  set("TESSERA_DUMP", "cuda,ptx,sass");
  set("TESSERA_DUMP_DIR", folder_ / "dump");
  Kernel dumped(text, hopper());
  ASSERT_EQ(dumped.request(JitMode::block), State::ready) << dumped.failure();
  EXPECT_EQ(disk_cache::statistics().hits, before.hits);
  EXPECT_EQ(disk_cache::statistics().written, before.written);
  EXPECT_EQ(test::read_file(folder_ / "dump" / "small_10.sm_90a.cu"), text.text);
  EXPECT_NE(test::read_file(folder_ / "dump" / "small_10.sm_90a.ptx").find(".entry small_10"),
            std::string::npos);
  EXPECT_NE(test::read_file(folder_ / "dump" / "small_10.sm_90a.sass").find("EXIT"), std::string::npos);
}

TEST_F(KernelStore, DumpsOfOneKernelBearOneDigest) {
  set("TESSERA_DUMP", "pass,cuda,ptx");
  set("TESSERA_DUMP_DIR", folder_ / "dump");
  std::set<std::string> digests;
  for (const DType dtype : {f32, f16}) {  // of one name
    dsl::Builder p("copy");
    dsl::Dim N = p.dim("N");
    dsl::In x = p.in("x", dtype, {N});
    dsl::Out y = p.out("y", dtype, {N});
    dsl::Axis n = p.grid(N, 64);
    y(n) = x(n);
    const auto made = lower_to_cuda(p.finish(), {.tensors = {{dtype, 0, 4}, {dtype, 0, 4}}}, {}, hopper());
    Kernel kernel(made->kernel, hopper());
    ASSERT_EQ(kernel.request(JitMode::block), State::ready) << kernel.failure();
    digests.insert(made->kernel.digest);
    EXPECT_EQ(test::read_file(folder_ / "dump" /
                              fmt::format("{}.{}.sm_90a.cu", made->kernel.name, made->kernel.digest)),
              made->kernel.text);
  }
  ASSERT_EQ(digests.size(), 2U);
  std::map<std::string, std::size_t> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "dump")) {
    for (const std::string& digest : digests)
      files[digest] += entry.path().filename().string().find("." + digest + ".") != std::string::npos ? 1 : 0;
  }
  for (const std::string& digest : digests) EXPECT_EQ(files[digest], pipeline().size() + 2);
}

TEST_F(KernelStore, ADumpThatCannotBeWrittenIsAWarning) {
  test::write_file(folder_ / "file", "");
  set("TESSERA_DUMP", "cuda,ptx");
  set("TESSERA_DUMP_DIR", folder_ / "file");
  EXPECT_EQ(Kernel(test::small_kernel(12), hopper()).request(JitMode::block), State::ready);
  ASSERT_EQ(warnings().size(), 2U);
  EXPECT_NE(warnings()[0].find("small_12.sm_90a.cu (Not a directory)"), std::string::npos) << warnings()[0];
}

TEST_F(KernelStore, CompilationsAreLogged) {
  set("TESSERA_LOG", "compile");
  ASSERT_EQ(Kernel(test::small_kernel(11), hopper()).request(JitMode::block), State::ready);
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_TRUE(warnings()[0].starts_with("tessera: compile: small_11 for sm_90a in ")) << warnings()[0];
}

}  // namespace
}  // namespace tessera
