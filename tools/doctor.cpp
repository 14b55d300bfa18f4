#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include "registration/registrar.h"
#include "tile_core/base/env.h"
#include "tile_core/base/env_table.h"
#include "tile_core/base/error.h"
#include "tile_core/base/version.h"
#include "tile_core/runtime/cache_folder.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/disk_cache.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/nvrtc.h"
#include "tile_core/runtime/sass.h"
#include "tile_core/runtime/shared_library.h"
#include "tile_core/target/chosen_target.h"
#include "tools/command.h"

namespace tessera::tools {
namespace {

constexpr double kMegabyte = 1 << 20;

/// What one part of the surroundings looks like.
struct Finding {
  enum class State { good, absent, bad };  ///< absent: works without, with less
  State state = State::good;
  std::string text;
};

Finding torch() {
  const std::uint64_t abi = aoti_torch_abi_version();  // one byte each: major, minor, patch, ...
  const auto libraries = loaded_libraries("libtorch_cpu.so");
  const std::string problem = torch_problem();
  if (!problem.empty()) return {Finding::State::bad, problem};
  return {.text = fmt::format("{}.{}.{} in {}", abi >> 56U & 0xffU, abi >> 48U & 0xffU, abi >> 40U & 0xffU,
                              libraries.empty() ? "this program" : folder_of(libraries.front()))};
}

Finding driver_state() {
  if (!driver::available()) return {Finding::State::absent, driver::problem()};
  return {.text = fmt::format("CUDA {}", driver::version_text(driver::version()))};
}

Finding devices() {
  if (!driver::available())
    return {Finding::State::absent,
            "none: operators run on the CPU; kernels can be compiled for --device NAME"};
  std::string text;
  for (int i = 0; i < driver::device_count(); ++i) {
    const driver::DeviceInfo& device = driver::device_info(i);
    text += fmt::format("{}{}: {}, {}, {} multiprocessors, {:.0f} MB of L2", text.empty() ? "" : "\n", i,
                        device.name, Target::for_capability(device.major, device.minor).arch,
                        device.multiprocessors, static_cast<double>(device.l2_bytes) / kMegabyte);
  }
  return {.text = text};
}

Finding nvrtc() {
  const Nvrtc& found = Nvrtc::get();
  return {.text = fmt::format("{} in {}, for sm_{}", found.version(), found.path(),
                              fmt::join(found.archs(), ", "))};
}

/// The architecture that kernels are compiled for here.
const Target& target_here() {
  if (const Target* const chosen = chosen_target(); chosen != nullptr) return *chosen;
  if (!driver::available()) return Target::named("sm_90a");
  const driver::DeviceInfo& device = driver::device_info(0);
  return Target::for_capability(device.major, device.minor);
}

Cubin probe() {
  return compile(empty_kernel(), target_here());
}

Finding compiler() {
  const Cubin cubin = probe();
  return {.text = fmt::format("a kernel for {} in {:.0f} ms", cubin.arch, cubin.compile_ms)};
}

Finding disassembler() try {
  sass(probe());
  return {.text = "works"};
} catch (const UserError& error) {
  return {Finding::State::absent, error.what()};
}

Finding cache_state() {
  const CachePlace place = cache_place();
  if (place.path.empty())
    return {Finding::State::bad, fmt::format("no place: {}; set TESSERA_CACHE_DIR", place.problem)};
  const OpenedFolder root = open_cache_root(place.path, /*create=*/true);
  if (!root.problem.empty()) {
    return {
        Finding::State::bad,
        fmt::format(
            "{} cannot be used: {}; kernels are compiled anew by every process. Set TESSERA_CACHE_DIR to a "
            "folder of yours",
            place.path, root.problem)};
  }
  const auto items = disk_cache::list();
  double bytes = 0;
  for (const disk_cache::Item& item : items) bytes += static_cast<double>(item.bytes);
  return {.text = fmt::format("{}: kernels: {}, {:.1f} of {:.0f} MB", place.path, items.size(),
                              bytes / kMegabyte, static_cast<double>(env::cache_max_bytes()) / kMegabyte)};
}

Finding variables() {
  env::check();
  chosen_target();
  return {.text = "TESSERA_*: every value is legal; `tessera env` prints them"};
}

struct Check {
  const char* name;
  Finding (*look)();
};
constexpr Check kChecks[] = {{"torch", torch},       {"driver", driver_state}, {"devices", devices},
                             {"NVRTC", nvrtc},       {"compiles", compiler},   {"SASS", disassembler},
                             {"cache", cache_state}, {"variables", variables}};

Finding looked_at(const Check& check) {
  try {
    return check.look();
  } catch (const std::exception& error) {
    return {Finding::State::bad, error.what()};
  }
}

/// The text beside its name, further lines under the first.
void print(const char* name, const Finding& finding) {
  constexpr const char* kMarks[] = {"ok", "-", "!!"};
  std::string text;
  for (char c : finding.text) text += c == '\n' ? "\n              " : std::string(1, c);
  fmt::print("{:<2}  {:<9} {}\n", kMarks[static_cast<int>(finding.state)], name, text);
}

}  // namespace

int doctor(int argc, char** argv) {
  parse_words(
      {nullptr, nullptr, nullptr,
       "What Tessera needs and where it was found. Marks: ok; - absent, Tessera works with less; !! to be "
       "repaired, as the text says (exit code 1).",
       nullptr, nullptr, nullptr},
      argc, argv, nullptr);
  fmt::print("tessera {}\n", version());
  bool healthy = true;
  for (const Check& check : kChecks) {
    const Finding finding = looked_at(check);
    healthy = healthy && finding.state != Finding::State::bad;
    print(check.name, finding);
  }
  return healthy ? kOk : kFailed;
}

}  // namespace tessera::tools
