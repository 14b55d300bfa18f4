#include "perf/measure.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/Sleep.h>
#include <ATen/ops/empty.h>
#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <random>

namespace tessera::perf {
namespace {

// The GPU sleeps so long before a cold launch that the host has enqueued the whole call by then.
constexpr std::int64_t kSleepCycles = 200'000;

class Stopwatch {
 public:
  void start() { start_.record(); }
  void stop() { stop_.record(); }
  /// Waits for what was enqueued between the two.
  double microseconds() {
    stop_.synchronize();
    return 1e3 * static_cast<double>(start_.elapsed_time(stop_));
  }

 private:
  at::cuda::CUDAEvent start_{cudaEventDefault};
  at::cuda::CUDAEvent stop_{cudaEventDefault};
};

}  // namespace

struct Timer::Device {
  Device()
      : flush(at::empty({4 * at::cuda::getCurrentDeviceProperties()->l2CacheSize},
                        at::TensorOptions().dtype(at::kByte).device(at::kCUDA))) {}
  at::Tensor flush;
  Stopwatch watch;
};

Timer::Timer(const Settings& settings) : settings_(settings), device_(std::make_unique<Device>()) {}
Timer::~Timer() = default;

std::vector<std::size_t> Timer::shuffled(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::minstd_rand(++order_));
  return order;
}

double Timer::once(const Arm& arm, int launches) {
  device_->watch.start();
  for (int i = 0; i < launches; ++i) arm();
  device_->watch.stop();
  return device_->watch.microseconds() / launches;
}

Glance Timer::glance(const std::vector<Arm>& arms) {
  constexpr double kHopeless = 4;
  Glance seen;
  double best = std::numeric_limits<double>::infinity();
  for (const Arm& arm : arms) {
    once(arm, 1);  // compiles, loads, fills the allocator
    seen.microseconds.push_back(once(arm, 1));
    best = std::min(best, seen.microseconds.back());
  }
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (seen.microseconds[i] <= kHopeless * best) seen.worthwhile.push_back(i);
  }
  return seen;
}

std::vector<Summary> Timer::cold(const std::vector<Arm>& arms) {
  std::vector<std::vector<double>> times(arms.size());
  for (const Arm& arm : arms) once(arm, 3);  // compiles, loads, fills the allocator
  for (int round = 0; round < settings_.rounds; ++round) {
    for (std::size_t i : shuffled(arms.size())) {
      for (int launch = 0; launch < settings_.cold_launches; ++launch) {
        device_->flush.zero_();
        at::cuda::sleep(kSleepCycles);
        times[i].push_back(once(arms[i], 1));
      }
    }
  }
  std::vector<Summary> result;
  for (auto& t : times) result.push_back(summarize(std::move(t)));
  return result;
}

std::vector<Summary> Timer::steady(const std::vector<Arm>& arms) {
  std::vector<int> launches;
  for (const Arm& arm : arms) {
    once(arm, 3);
    const double microseconds = std::max(once(arm, 5), 0.5);
    launches.push_back(std::max(1, static_cast<int>(1e3 * settings_.block_milliseconds / microseconds)));
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  do {
    for (std::size_t i = 0; i < arms.size(); ++i) once(arms[i], launches[i]);
  } while (seconds() < settings_.warm_up_seconds);

  std::vector<std::vector<double>> times(arms.size());
  for (int round = 0; round < settings_.rounds; ++round) {
    for (std::size_t i : shuffled(arms.size())) times[i].push_back(once(arms[i], launches[i]));
  }
  std::vector<Summary> result;
  for (auto& t : times) result.push_back(summarize(std::move(t)));
  return result;
}

}  // namespace tessera::perf
