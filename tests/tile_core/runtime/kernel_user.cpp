#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "tests/tile_core/runtime/kernels.h"
#include "tile_core/base/sha256.h"
#include "tile_core/runtime/disk_cache.h"
#include "tile_core/runtime/kernel_store.h"
#include "tile_core/runtime/nvrtc.h"

// A process that uses the cache, for processes_test.cpp:
//   kernel_user use COUNT [UID]   gets small kernels 0..COUNT-1, as user UID; prints what it did
//   kernel_user leave MS          has a thread ask for a slow kernel in the background, and ends MS
//   milliseconds later
namespace tessera {
namespace {

const Target& hopper() {
  return Target::named("sm_90a");
}

int use(int count, uid_t uid) {
  Nvrtc::get();  // while it may be read
  if (uid != ::getuid() && ::setuid(uid) != 0) return 2;
  std::string images;
  int ready = 0;
  for (int i = 0; i < count; ++i) {
    Kernel& kernel = kernel_store::get(test::small_kernel(i), hopper());
    if (kernel.request(JitMode::block) == Kernel::State::ready) ++ready;
    images += sha256(kernel.cubin().image);
  }
  const disk_cache::Statistics disk = disk_cache::statistics();
  fmt::print("ready {} compiles {} hits {} written {} rejected {} images {}\n", ready,
             kernel_store::statistics().compiles, disk.hits, disk.written, disk.rejected,
             sha256(images).substr(0, 8));
  return 0;
}

// Like a process with torch in it: its end takes a while after NVRTC's part of it.
struct SlowEnd {
  ~SlowEnd() { std::this_thread::sleep_for(std::chrono::milliseconds(150)); }
};

int leave(int milliseconds) {
  static const SlowEnd slow_end;
  std::thread([&] {
    kernel_store::get(test::slow_kernel(milliseconds), hopper()).request(JitMode::background);
  }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int count, char** words) {
  const std::string command = count > 2 ? words[1] : "";
  const int number = count > 2 ? std::atoi(words[2]) : 0;
  if (command == "use")
    return tessera::use(number, count > 3 ? static_cast<uid_t>(std::atoi(words[3])) : ::getuid());
  if (command == "leave") return tessera::leave(number);
  return 3;
}
