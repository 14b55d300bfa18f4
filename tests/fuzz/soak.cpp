#include "tests/fuzz/soak.h"

#include <ATen/ATen.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/CUDAGraph.h>
#include <algorithm>
#include <array>
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
  at::getHostAllocator(at::kCUDA)->empty_cache();  // it keeps a pool for each graph that there was
  malloc_trim(0);                                  // what threads have freed is not in use
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

/// The cases of one thread in one round: new ones, and in the second half of the soak the same again.
struct Cases {
  std::uint64_t first = 0;  ///< seed
  std::uint64_t made = 0;

  std::uint64_t seed(std::uint64_t step, bool again) const {
    return first + (again ? step % std::max<std::uint64_t>(made, 1) : step);
  }
};

/// One thread on its own stream, until `end`.
class Worker {
 public:
  Worker(Shared& shared, Cases& cases, bool again, Clock::time_point end)
      : shared_(shared), cases_(cases), again_(again), end_(end) {}

  void operator()() {
    try {
      const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
      std::uint64_t steps = 0;
      for (; Clock::now() < end_; ++steps) {
        seed_ = cases_.seed(steps, again_);
        step();
      }
      if (!again_) cases_.made = steps;
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
  }

  void call() {
    Choices choices(seed_);
    Counts counts;
    const std::optional<Failure> failure = check_call_as_it_is(choices, "cuda", counts);
    shared_.count("calls");
    if (failure)
      shared_.found(fmt::format("{}, seed {}: {}\n{}\n   again: {}", failure->kind, seed_, failure->details,
                                failure->text, command_of_call(choices, "cuda")));
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
  Cases& cases_;
  bool again_;
  Clock::time_point end_;
  std::uint64_t seed_ = 0;
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

/// Operators that are registered one after the other, each a kernel to compile and to load, and called again
/// in the second half.
class Operators {
 public:
  void run(Shared& shared, bool again, Clock::time_point end) {
    try {
      for (std::size_t step = 0; Clock::now() < end; ++step) {
        if (!again) add();
        check(shared, again ? step % all_.size() : all_.size() - 1);
        std::this_thread::sleep_for(std::chrono::seconds(1));
      }
    } catch (const std::exception& error) {
      shared.found(fmt::format("operator times_{}: {}", all_.size(), error.what()));
    }
  }

 private:
  void add() {
    const int number = static_cast<int>(all_.size()) + 1;
    all_.push_back(register_operator(fmt::format("soak::times_{}(Tensor x) -> Tensor", number),
                                     [number](const auto& dtypes) { return times(dtypes, number); }));
  }

  void check(Shared& shared, std::size_t index) {
    const auto number = static_cast<std::int64_t>(index) + 1;
    const at::Tensor x = at::ones({1000}, at::device(at::kCUDA).dtype(at::kFloat));
    if (!at::equal(all_.at(index)(x), x * number))
      shared.found(fmt::format("operator times_{} gives another value", number));
    shared.count(index + 1 == all_.size() ? "kernels compiled meanwhile" : "calls of them again");
  }

  std::vector<UserOperator> all_;
};

/// Rounds of new cases, and as many of the same ones: what they need memory for has been seen once, graphs
/// and plans that ATen keeps of every shape included.
class Rounds {
 public:
  explicit Rounds(std::uint64_t seed) {
    constexpr std::uint64_t kOfRound = 100'000'000, kOfThread = 1'000'000;
    for (std::uint64_t round = 0; round < cases_.size(); ++round) {
      for (std::uint64_t thread = 0; thread < kThreads; ++thread)
        cases_[round][thread].first = seed + round * kOfRound + thread * kOfThread;
    }
  }

  void run(Shared& shared, int round, Clock::duration time) {
    const Clock::time_point end = Clock::now() + time;
    const bool again = round >= kRounds / 2;
    std::vector<std::thread> threads;
    for (Cases& cases : cases_[static_cast<std::size_t>(round % (kRounds / 2))])
      threads.emplace_back(Worker(shared, cases, again, end));
    threads.emplace_back([&] { operators_.run(shared, again, end); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  std::array<std::array<Cases, kThreads>, kRounds / 2> cases_;
  Operators operators_;
};

constexpr double kMega = 1 << 20;

/// Findings about the memory of the second half's rounds.
int growth(const std::vector<Memory>& rounds) {
  constexpr double kAllowed = 64 * kMega;
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
  Rounds all(seed);
  std::vector<Memory> rounds;
  for (int round = 0; round < kRounds; ++round) {
    all.run(shared, round, std::chrono::milliseconds(1000 * seconds / kRounds));
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
