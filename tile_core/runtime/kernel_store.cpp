#include "tile_core/runtime/kernel_store.h"

#include <fmt/ranges.h>
#include <functional>
#include <optional>
#include <unordered_map>

#include "tile_core/base/dump.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"
#include "tile_core/base/sha256.h"
#include "tile_core/runtime/background.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/digest.h"
#include "tile_core/runtime/disk_cache.h"
#include "tile_core/runtime/nvrtc.h"
#include "tile_core/runtime/profiler.h"
#include "tile_core/runtime/sass.h"

namespace tessera {
namespace {

std::atomic<std::uint64_t> compiles{0};
std::atomic<std::uint64_t> failures{0};

std::optional<Cubin> read_from_disk(const KernelText& text, const Target& target) {
  const Nvrtc& nvrtc = Nvrtc::get();
  return disk_cache::read(
      kernel_key(text.text, compiler_flags(nvrtc, target, {}), target.arch, nvrtc.version()));
}

void report(const Cubin& cubin) {
  if (!log::enabled(log::Topic::compile)) return;
  std::string line = fmt::format("{} for {} in {:.0f} ms: {} registers, {} bytes of code", cubin.kernel,
                                 cubin.arch, cubin.compile_ms, cubin.registers, cubin.image.size());
  for (const std::string& complaint : cubin.complaints()) line += "; " + complaint;
  log::info(log::Topic::compile, line);
}

// A dump that cannot be made is no reason for the kernel to fail.
void dump_or_warn(const std::function<void()>& dump) {
  try {
    dump();
  } catch (const UserError& error) {
    log::warn_once(error.what(), error.what());
  }
}

// A dump has to show a compilation, so it goes around the cache on disk.
Cubin compile_and_dump(const KernelText& text, const Target& target) {
  const std::string name = text.digest.empty() ? text.name : text.name + "." + text.digest;
  dump_or_warn([&] { dump::write("cuda", name, target.arch + ".cu", text.text); });
  Cubin cubin = compile(text, target, {.line_info = true, .keep_ptx = true});
  dump_or_warn([&] { dump::write("ptx", name, target.arch + ".ptx", cubin.ptx); });
  if (env::dumps("sass")) {
    dump_or_warn([&] { dump::write("sass", name, target.arch + ".sass", sass(cubin)); });
  }
  return cubin;
}

Cubin compile_and_keep(const KernelText& text, const Target& target) {
  Cubin cubin = compile(text, target);
  disk_cache::write(cubin);
  return cubin;
}

Cubin compile_now(const KernelText& text, const Target& target) {
  ++compiles;
  Cubin cubin = env::dumps_anything() ? compile_and_dump(text, target) : compile_and_keep(text, target);
  report(cubin);
  return cubin;
}

}  // namespace

Kernel::Kernel(KernelText text, const Target& target) : text_(std::move(text)), target_(target) {}

bool Kernel::claim() {
  const std::scoped_lock lock(mutex_);
  if (state_ != State::absent) return false;
  state_ = State::pending;
  return true;
}

void Kernel::settle(State state) {
  {
    const std::scoped_lock lock(mutex_);
    state_.store(state, std::memory_order_release);
    ++generation_;
  }
  settled_.notify_all();
}

void Kernel::fail(const std::string& why) {
  ++failures;
  failure_ = why;
  settle(State::failed);
}

Kernel::State Kernel::wait() {
  std::unique_lock lock(mutex_);
  settled_.wait(lock, [&] { return state_ != State::pending; });
  return state_;
}

// Whatever is thrown settles the kernel: else those who wait for it would wait for ever.

void Kernel::produce(bool may_compile) {
  State outcome = State::absent;
  try {
    const profiler::Range range("tessera: get kernel " + text_.name);
    std::optional<Cubin> cubin;
    if (!env::dumps_anything()) cubin = read_from_disk(text_, target_);
    looked_on_disk_ = true;
    if (!cubin && may_compile) {
      cubin = compile_now(text_, target_);
      compiled_ = true;
    }
    if (cubin) {
      cubin_ = std::move(*cubin);
      outcome = State::ready;
    }
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (...) {
    return fail("an exception of no known type");
  }
  settle(outcome);
}

void Kernel::start_producing() {
  try {
    prepare_for_exit(target_);
    background::submit([this] { produce(true); });
  } catch (const std::exception& error) {
    fail(fmt::format("no background compilation could be started: {}", error.what()));
  }
}

Kernel::State Kernel::request(JitMode mode) {
  const State now = state();
  if (now == State::ready || now == State::failed) return now;
  switch (mode) {
    case JitMode::off:
      if (!looked_on_disk_ && claim()) produce(false);
      return wait();
    case JitMode::background:
      if (claim()) start_producing();
      return state();
    case JitMode::block:
      break;
  }
  for (;;) {
    if (claim()) produce(true);
    const State settled = wait();
    if (settled != State::absent) return settled;  // absent: the other thread only looked on disk
  }
}

const Cubin& Kernel::cubin() const {
  if (state() != State::ready) throw InternalError::format("kernel {} is not ready", text_.name);
  return cubin_;
}

const std::string& Kernel::failure() const {
  if (state() != State::failed) throw InternalError::format("kernel {} has not failed", text_.name);
  return failure_;
}

void Kernel::forget_failure() {
  const std::scoped_lock lock(mutex_);
  if (state_ == State::failed) state_ = State::absent;
  ++generation_;
}

namespace kernel_store {
namespace {

struct Store {
  std::mutex mutex;  // held for a look-up only
  std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels;
};

Store& store() {
  static auto* leaked = new Store;  // background threads outlive static destructors
  return *leaked;
}

// Two texts never differ in the launch alone, but a mistake there must not mix two kernels up.
std::string identity(const KernelText& text, const Target& target) {
  std::string id =
      fmt::format("{} {} {} {} {} {} {} {}", sha256(text.text), text.name, text.threads, text.shared_bytes,
                  target.arch, text.persistent ? text.blocks : 0, text.counter, text.cluster);
  for (const TensorMap& map : text.maps)
    id += fmt::format(" {} {} {} {}", map.tensor, map.contiguous, fmt::join(map.box, ","), map.swizzle);
  return id;
}

}  // namespace

Kernel& get(const KernelText& text, const Target& target) {
  const std::string id = identity(text, target);
  const std::scoped_lock lock(store().mutex);
  std::unique_ptr<Kernel>& kernel = store().kernels[id];
  if (kernel == nullptr) kernel = std::make_unique<Kernel>(text, target);
  return *kernel;
}

void forget_failures() {
  Nvrtc::forget_failures();
  const std::scoped_lock lock(store().mutex);
  for (auto& [id, kernel] : store().kernels) kernel->forget_failure();
}

Statistics statistics() {
  return {compiles, failures};
}

}  // namespace kernel_store
}  // namespace tessera
