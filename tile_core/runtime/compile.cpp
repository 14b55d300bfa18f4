#include "tile_core/runtime/compile.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/ranges.h>

#include "tile_core/base/error.h"
#include "tile_core/runtime/digest.h"
#include "tile_core/runtime/nvrtc.h"
#include "tile_core/runtime/running_compilation.h"

namespace tessera {
namespace {

int flow_callback(void* /*payload*/, void* /*reserved*/) {
  return RunningCompilation::must_stop() ? 1 : 0;
}

class Program {
 public:
  Program(const Nvrtc& nvrtc, const KernelText& kernel) : nvrtc_(nvrtc) {
    const std::string file = kernel.name + ".cu";
    const nvrtcResult result =
        nvrtc.create_program(&handle_, kernel.text.c_str(), file.c_str(), 0, nullptr, nullptr);
    if (result != NVRTC_SUCCESS)
      throw InternalError::format("nvrtcCreateProgram: {}", nvrtc.error_string(result));
    if (nvrtc.set_flow_callback != nullptr) nvrtc.set_flow_callback(handle_, flow_callback, nullptr);
  }
  ~Program() { nvrtc_.destroy_program(&handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult compile(const std::vector<std::string>& flags) {
    std::vector<const char*> pointers;
    pointers.reserve(flags.size());
    for (const std::string& flag : flags) pointers.push_back(flag.c_str());
    return nvrtc_.compile_program(handle_, static_cast<int>(pointers.size()), pointers.data());
  }

  std::string log() { return text(nvrtc_.log_size, nvrtc_.log); }
  std::string ptx() { return text(nvrtc_.ptx_size, nvrtc_.ptx); }
  std::string cubin() {
    std::string image = read(nvrtc_.cubin_size, nvrtc_.cubin);
    if (!is_cubin(image))
      throw InternalError::format("NVRTC {} gave {} instead of a cubin", nvrtc_.version(),
                                  describe_image(image));
    return image;
  }

 private:
  template <typename Size, typename Get>
  std::string read(Size size, Get get) {
    std::size_t bytes = 0;
    if (size(handle_, &bytes) != NVRTC_SUCCESS) return "";
    std::string content(bytes, '\0');
    if (get(handle_, content.data()) != NVRTC_SUCCESS) return "";
    return content;
  }

  template <typename Size, typename Get>
  std::string text(Size size, Get get) {
    std::string content = read(size, get);
    while (!content.empty() && content.back() == '\0') content.pop_back();
    return content;
  }

  const Nvrtc& nvrtc_;
  nvrtcProgram handle_ = nullptr;
};

// 90 of "sm_90a"; 0 where the name is none of NVRTC's.
int arch_number(std::string_view arch) {
  if (!arch.starts_with("sm_")) return 0;
  int number = 0;
  std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  return number;
}

void check_arch(const Nvrtc& nvrtc, const Target& target) {
  if (std::ranges::binary_search(nvrtc.archs(), arch_number(target.arch))) return;
  throw UserError::format(
      "NVRTC {} ({}) does not know the architecture {}; it compiles for sm_{}.\n"
      "Use a newer CUDA toolkit or torch (TESSERA_NVRTC names another NVRTC), another TESSERA_ARCH, or "
      "TESSERA_POLICY=native",
      nvrtc.version(), nvrtc.path(), target.arch, fmt::join(nvrtc.archs(), ", sm_"));
}

std::string shortened(const std::string& log) {
  constexpr std::size_t kLimit = 8000;
  if (log.size() <= kLimit) return log;
  return fmt::format("{}\n... {} more bytes of log", log.substr(0, kLimit), log.size() - kLimit);
}

[[noreturn]] void report(const Nvrtc& nvrtc, const KernelText& kernel, const Target& target,
                         nvrtcResult result, const std::string& log) {
  if (result == NVRTC_ERROR_CANCELLED) {
    throw UserError::format("kernel {} is not compiled: the process ends", kernel.name);
  }
  if (result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) {
    throw UserError::format(
        "NVRTC {} ({}) cannot load its second library, libnvrtc-builtins.so.{}, which must lie beside "
        "it:\n{}\n"
        "Install both from one CUDA toolkit or torch wheel, or name another NVRTC with TESSERA_NVRTC",
        nvrtc.version(), nvrtc.path(), nvrtc.version(), shortened(log));
  }
  throw InternalError::format(
      "NVRTC {} rejected kernel {} for {} ({}):\n{}\nsee the text with TESSERA_DUMP=cuda", nvrtc.version(),
      kernel.name, target.arch, nvrtc.error_string(result), shortened(log));
}

}  // namespace

std::vector<std::string> compiler_flags(const Nvrtc& nvrtc, const Target& target,
                                        const CompileOptions& options) {
  std::vector<std::string> flags = {"-arch=" + target.arch, "--std=c++17", "--ptxas-options=-v",
                                    "--fmad=false"};          // products and sums are contracted by simplify
  if (nvrtc.major() >= 13) flags.emplace_back("--no-cache");  // ours is the only cache; NVRTC 12 has none
  if (options.line_info) flags.emplace_back("-lineinfo");
  return flags;
}

Cubin compile(const KernelText& kernel, const Target& target, const CompileOptions& options) {
  const Nvrtc& nvrtc = Nvrtc::get();
  check_arch(nvrtc, target);
  const auto flags = compiler_flags(nvrtc, target, options);
  RunningCompilation running(kernel.name);
  const auto start = std::chrono::steady_clock::now();
  Program program(nvrtc, kernel);
  const nvrtcResult result = program.compile(flags);
  running.stop_at_exit(target.arch);
  Cubin cubin{.key = kernel_key(kernel.text, flags, target.arch, nvrtc.version()),
              .kernel = kernel.name,
              .arch = target.arch,
              .nvrtc = nvrtc.version(),
              .log = program.log()};
  if (result != NVRTC_SUCCESS) report(nvrtc, kernel, target, result, cubin.log);
  cubin.image = program.cubin();
  if (options.keep_ptx) cubin.ptx = program.ptx();
  cubin.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  read_ptxas_log(cubin);
  return cubin;
}

void prepare_for_exit(const Target& target) {
  if (RunningCompilation::stops_at_exit(target.arch)) return;
  try {
    compile(empty_kernel(), target);
  } catch (const UserError&) {
    return;  // no NVRTC or an unknown architecture: the compilation that follows says so
  }
}

}  // namespace tessera
