#include "tile_core/runtime/nvrtc.h"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <mutex>

#include "tile_core/base/env.h"
#include "tile_core/base/error.h"

namespace tessera {
namespace {

constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

/// Whether there is such a file, as far as this user may know.
bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void add_folder(std::vector<std::string>& candidates, const std::string& folder) {
  for (const char* name : kNames) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (is_there(path)) candidates.push_back(path.string());
  }
}

// torch's wheels put NVRTC beside the torch package: site-packages/torch/lib, site-packages/nvidia/*/lib.
void add_torch_folders(std::vector<std::string>& candidates) {
  for (const char* library : {"libtorch.so", "libtorch_cpu.so", "libc10.so"}) {
    for (const std::string& loaded : loaded_libraries(library)) {
      const std::filesystem::path torch_lib = folder_of(loaded);
      const std::filesystem::path site = torch_lib.parent_path().parent_path();
      add_folder(candidates, torch_lib);
      for (const char* package : {"cu13", "cuda_nvrtc"})
        add_folder(candidates, site / "nvidia" / package / "lib");
    }
  }
}

// NVRTC opens this second library by its bare name, which finds neither a wheel's folder nor ours. One that
// the process has loaded under that name is found, so it is loaded first. Where it is missing NVRTC's own log
// says so.
void load_builtins(const std::string& nvrtc, int major, int minor) {
  const std::string name = fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
  const std::filesystem::path beside = std::filesystem::path(folder_of(nvrtc)) / name;
  if (is_there(beside)) dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
}

struct Found {
  std::unique_ptr<const Nvrtc> nvrtc;
  std::string failure;
};

struct Searches {
  std::mutex mutex;
  std::map<std::string, Found> by_setting;
};

Searches& searches() {
  static auto* leaked = new Searches;  // background compilations may outlive static destructors
  return *leaked;
}

}  // namespace

std::vector<std::string> nvrtc_candidates() {
  if (const std::string chosen = env::nvrtc(); !chosen.empty()) return {chosen};
  std::vector<std::string> candidates = loaded_libraries("libnvrtc.so");
  add_torch_folders(candidates);
  for (const std::string& toolkit : {env::cuda_home(), std::string("/usr/local/cuda")}) {
    if (toolkit.empty()) continue;
    add_folder(candidates, toolkit + "/lib64");
    add_folder(candidates, toolkit + "/targets/x86_64-linux/lib");
  }
  candidates.insert(candidates.end(), std::begin(kNames), std::end(kNames));
  return candidates;
}

Nvrtc::Nvrtc(SharedLibrary library) : library_(std::move(library)) {
  if (library_.find("nvrtcVersion") == nullptr)
    throw UserError::format("{} is no NVRTC: it has no function nvrtcVersion", path());
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetNumSupportedArchs) arch_count = nullptr;
  decltype(&::nvrtcGetSupportedArchs) supported_archs = nullptr;
  library_.get(version, "nvrtcVersion");
  library_.get(arch_count, "nvrtcGetNumSupportedArchs");
  library_.get(supported_archs, "nvrtcGetSupportedArchs");
  library_.get(error_string, "nvrtcGetErrorString");
  library_.get(create_program, "nvrtcCreateProgram");
  library_.get(destroy_program, "nvrtcDestroyProgram");
  library_.get(compile_program, "nvrtcCompileProgram");
  library_.get(log_size, "nvrtcGetProgramLogSize");
  library_.get(log, "nvrtcGetProgramLog");
  library_.get(cubin_size, "nvrtcGetCUBINSize");
  library_.get(cubin, "nvrtcGetCUBIN");
  library_.get(ptx_size, "nvrtcGetPTXSize");
  library_.get(ptx, "nvrtcGetPTX");
  set_flow_callback = reinterpret_cast<decltype(set_flow_callback)>(library_.find("nvrtcSetFlowCallback"));
  int count = 0;
  if (version(&major_, &minor_) != NVRTC_SUCCESS || arch_count(&count) != NVRTC_SUCCESS) {
    throw UserError::format(
        "{} does not tell its version and architectures; use another NVRTC (TESSERA_NVRTC)", path());
  }
  archs_.resize(static_cast<std::size_t>(count));
  supported_archs(archs_.data());
  std::ranges::sort(archs_);
  load_builtins(path(), major_, minor_);
}

std::string Nvrtc::version() const {
  return fmt::format("{}.{}", major_, minor_);
}

const Nvrtc& Nvrtc::get() {
  const std::string setting = env::nvrtc();
  const std::scoped_lock lock(searches().mutex);
  Found& found = searches().by_setting[setting];
  if (found.nvrtc == nullptr && found.failure.empty()) {
    try {
      found.nvrtc.reset(
          new Nvrtc(SharedLibrary::open_first("NVRTC, the CUDA run-time compiler,", nvrtc_candidates(),
                                              "NVRTC comes with torch's CUDA build (nvidia/cu13/lib) and "
                                              "with the CUDA toolkit; TESSERA_NVRTC names one")));
    } catch (const UserError& error) {
      found.failure = setting.empty() ? error.what()
                                      : fmt::format("TESSERA_NVRTC={}: {}; unset it to search for NVRTC",
                                                    setting, error.what());
    }
  }
  if (found.nvrtc == nullptr) throw UserError(found.failure);
  return *found.nvrtc;
}

void Nvrtc::forget_failures() {
  const std::scoped_lock lock(searches().mutex);
  std::erase_if(searches().by_setting, [](const auto& entry) { return entry.second.nvrtc == nullptr; });
}

}  // namespace tessera
