#include "tests/fuzz/soak.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/CUDAGraph.h>
#include <algorithm>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <deque>
#include <fmt/format.h>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <thread>

#include "tessera/ops.h"
#include "tessera/policy.h"
#include "tessera/register_operator.h"
#include "tests/fuzz/check_call.h"
#include "tests/fuzz/crash.h"
#include "tests/fuzz/random_tensor.h"
#include "tile_core/base/error.h"

namespace tessera::fuzz {
namespace {

using Clock = std::chrono::steady_clock;
using Tensors = std::vector<at::Tensor>;

constexpr int kThreads = 8, kRounds = 10;

/// Bytes in use.
struct Memory {
  std::int64_t tensors = 0;  ///< what torch has handed out
  std::int64_t device = 0;
  std::int64_t process = 0;
};

Memory memory_in_use() {
  c10::cuda::device_synchronize();
  at::cuda::clearCublasWorkspaces();  // torch keeps one for each stream that multiplied
  c10::cuda::CUDACachingAllocator::emptyCache();
  malloc_trim(0);  // what threads have freed is not in use
  Memory memory;
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) memory.device = static_cast<std::int64_t>(total - free);
  using namespace c10::CachingDeviceAllocator;
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(c10::cuda::current_device());
  memory.tensors = stats.allocated_bytes[static_cast<std::size_t>(StatType::AGGREGATE)].current;
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  constexpr std::int64_t kPage = 4096;
  memory.process = resident * kPage;
  return memory;
}

/// What the threads have in common.
struct Shared {
  std::mutex mutex;      // of the counts and of what is printed
  std::mutex capturing;  // torch takes one capture at a time: they share the generator's state
  Counts counts;
  int findings = 0;

  void count(const std::string& what) {
    const std::lock_guard lock(mutex);
    ++counts[what];
  }
  void found(const std::string& text) {
    const std::lock_guard lock(mutex);
    ++findings;
    fmt::print("FAILED: {}\n", text);
    std::fflush(stdout);
  }
};

/// The inputs of a graph, and calls of every operator on them.
struct Captured {
  at::Tensor x, w, b, q;
  at::cuda::CUDAGraph graph;
  Tensors results;

  static at::Tensor random(const std::vector<std::int64_t>& sizes, at::ScalarType dtype, int seed) {
    return normal_numbers(sizes, static_cast<std::uint64_t>(seed)).to(dtype).to(at::kCUDA);
  }

  explicit Captured(Choices& c) {
    const at::ScalarType dtype = c.of({at::kHalf, at::kBFloat16, at::kFloat});
    const std::int64_t rows = 1 + c.below(100), depth = 1 + c.below(100), keys = 1 + c.below(100);
    x = random({rows, depth}, dtype, 1);
    w = random({rows, depth}, dtype, 2);
    b = random({rows}, dtype, 3);
    q = random({1, 2, keys, c.of({64, 32, 40})}, dtype, 4);
  }
  Tensors run() const {
    return {tessera::add(x, w), tessera::linear_gelu(x, w, b), tessera::softmax(x, -1),
            std::get<0>(tessera::flash_attention(q, q, q, true))};
  }
  /// Kernels have to be there before.
  void capture() {
    run();
    graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    results = run();
    graph.capture_end();
  }
  /// Whether a replay with new data gives what calls give.
  bool replays(int seed) {
    x.copy_(random(x.sizes().vec(), x.scalar_type(), seed));
    q.copy_(random(q.sizes().vec(), q.scalar_type(), seed + 1));
    graph.replay();
    const Tensors eager = run();
    for (std::size_t i = 0; i < eager.size(); ++i) {
      if (!at::equal(results[i], eager[i])) return false;
    }
    return true;
  }
};

/// One thread on its own stream, until `end`.
class Worker {
 public:
  Worker(Shared& shared, std::uint64_t seed, Clock::time_point end)
      : shared_(shared), seed_(seed), end_(end) {}

  void operator()() {
    try {
      const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
      while (Clock::now() < end_) step();
    } catch (const std::exception& error) {
      shared_.found(fmt::format("a thread ended, seed {}: {}", seed_, error.what()));
    }
  }

 private:
  void step() {
    name_case_to_signals(fmt::format("the soak, seed {}", seed_));
    Choices choices(seed_);
    const int kind = choices.below(20);
    if (kind == 0) {
      capture(choices);
    } else if (kind == 1) {
      hold(choices);
    } else {
      call();
    }
    ++seed_;
  }

  void call() {
    Choices choices(seed_);
    Counts counts;
    const std::optional<Failure> failure = check_call_as_it_is(choices, "cuda", counts);
    shared_.count("calls");
    if (failure)
      shared_.found(
          fmt::format("{}, seed {}: {}\n{}", failure->kind, seed_, failure->details, failure->text));
  }

  /// A new graph, and replays of those that are kept.
  void capture(Choices& choices) {
    {
      const std::lock_guard lock(shared_.capturing);
      graphs_.push_back(std::make_unique<Captured>(choices));
      graphs_.back()->capture();
    }
    constexpr std::size_t kKept = 3;
    if (graphs_.size() > kKept) graphs_.pop_front();
    shared_.count("graphs");
    for (const auto& graph : graphs_) {
      shared_.count("replays");
      if (!graph->replays(choices.below(1000)))
        shared_.found(fmt::format("a graph's replay is not what calls give, seed {}", seed_));
    }
  }

  /// Pressure on the allocator: up to 256 MB, some of which is freed on the way.
  void hold(Choices& choices) {
    constexpr std::size_t kHeld = 4;
    held_.push_back(at::full({1 + choices.below(1 << 24)}, NAN, at::device(at::kCUDA).dtype(at::kFloat)));
    if (held_.size() > kHeld) held_.pop_front();
    if (choices.chance(10)) held_.clear();
  }

  Shared& shared_;
  std::uint64_t seed_;
  Clock::time_point end_;
  std::deque<std::unique_ptr<Captured>> graphs_;
  std::deque<at::Tensor> held_;
};

Program times(const std::vector<DType>& dtypes, int number) {
  using namespace dsl;
  Builder p("times");
  Dim N = p.dim("N");
  In x = p.in("x", dtypes.at(0), {N});
  Out out = p.out("out", dtypes.at(0), {N});
  Axis n = p.grid(N, 256);
  out(n) = cast(dtypes[0], x(n) * number);
  return p.finish();
}

/// Registers one operator after the other: each is a kernel to compile and to load.
void compile_until(Shared& shared, Clock::time_point end) {
  static int registered = 0;
  try {
    while (Clock::now() < end) {
      const int number = ++registered;
      const UserOperator op =
          register_operator(fmt::format("soak::times_{}(Tensor x) -> Tensor", number),
                            [number](const auto& dtypes) { return times(dtypes, number); });
      const at::Tensor x = at::ones({1000}, at::device(at::kCUDA).dtype(at::kFloat));
      if (!at::equal(op(x), x * number))
        shared.found(fmt::format("operator times_{} gives another value", number));
      shared.count("kernels compiled meanwhile");
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  } catch (const std::exception& error) {
    shared.found(fmt::format("operator times_{}: {}", registered, error.what()));
  }
}

void run_round(Shared& shared, std::uint64_t seed, Clock::duration time) {
  const Clock::time_point end = Clock::now() + time;
  std::vector<std::thread> threads;
  constexpr std::uint64_t kSeeds = 1'000'000;  // of one thread
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back(Worker(shared, seed + static_cast<std::uint64_t>(t) * kSeeds, end));
  threads.emplace_back([&] { compile_until(shared, end); });
  for (std::thread& thread : threads) thread.join();
}

constexpr double kMega = 1 << 20;

/// Findings about the memory of the second half's rounds.
int growth(const std::vector<Memory>& rounds) {
  constexpr double kAllowed = 64 * kMega;  // kernels of shapes that come up late
  int findings = 0;
  const Memory &middle = rounds[rounds.size() / 2], &last = rounds.back();
  for (auto [what, before, after] : {std::tuple("the device", middle.device, last.device),
                                     std::tuple("the process", middle.process, last.process)}) {
    if (static_cast<double>(after - before) <= kAllowed) continue;
    ++findings;
    fmt::print("FAILED: the memory of {} grew from {:.0f} to {:.0f} MB\n", what,
               static_cast<double>(before) / kMega, static_cast<double>(after) / kMega);
  }
  return findings;
}

}  // namespace

int soak(int seconds, std::uint64_t seed) {
  if (!at::hasCUDA()) throw UserError("--soak needs a GPU, and this machine has none");
  set_policy(Policy::tile);
  const bool with_cudnn = at::globalContext().userEnabledCuDNNSDP();
  at::globalContext().setSDPUseCuDNN(false);  // ATen keeps a graph of every shape that cuDNN has seen
  Shared shared;
  std::vector<Memory> rounds;
  for (int round = 0; round < kRounds; ++round) {
    run_round(shared, seed + static_cast<std::uint64_t>(round) * 100'000'000,
              std::chrono::milliseconds(1000 * seconds / kRounds));
    const Memory memory = rounds.emplace_back(memory_in_use());
    fmt::print("round {}: {} bytes of tensors, device {:.0f} MB, process {:.0f} MB\n", round + 1,
               memory.tensors, static_cast<double>(memory.device) / kMega,
               static_cast<double>(memory.process) / kMega);
    std::fflush(stdout);
    if (memory.tensors != rounds.front().tensors) shared.found("tensors are left after a round");
  }
  at::globalContext().setSDPUseCuDNN(with_cudnn);
  set_policy({});
  const int findings = shared.findings + growth(rounds);
  fmt::print("soak: {} s, {} threads from seed {}", seconds, kThreads, seed);
  for (const auto& [what, count] : shared.counts) fmt::print("; {} {}", count, what);
  fmt::print("; {}\n", findings == 0 ? "nothing found" : fmt::format("{} findings", findings));
  return findings;
}

}  // namespace tessera::fuzz
