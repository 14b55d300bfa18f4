#include "tile_core/runtime/sass.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "tile_core/base/env.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/nvrtc.h"
#include "tile_core/runtime/shared_library.h"
#include "tile_core/runtime/subprocess.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> tool_folders() {
  std::vector<fs::path> folders;
  std::stringstream path(env::search_path());
  for (std::string folder; std::getline(path, folder, ':');) folders.emplace_back(folder);
  if (const std::string toolkit = env::cuda_home(); !toolkit.empty())
    folders.emplace_back(fs::path(toolkit) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  // site-packages/torch/lib/libc10.so and site-packages/nvidia/cu13/lib/libnvrtc.so.13
  std::vector<fs::path> sites;
  for (const std::string& c10 : loaded_libraries("libc10.so"))
    sites.push_back(fs::path(c10).parent_path().parent_path().parent_path());
  for (const std::string& nvrtc : loaded_libraries("libnvrtc.so")) {
    sites.push_back(fs::path(nvrtc).parent_path().parent_path().parent_path().parent_path());
  }
  for (const fs::path& site : sites) folders.push_back(site / "triton/backends/nvidia/bin");
  std::set<fs::path> seen;
  std::erase_if(folders, [&](const fs::path& folder) { return !seen.insert(folder).second; });
  return folders;
}

struct Tool {
  std::string path;
  std::vector<std::string> options;
};

Tool find_tool() {
  const auto folders = tool_folders();
  const Tool tools[] = {{"nvdisasm", {"--print-code"}}, {"cuobjdump", {"-sass"}}};
  for (const Tool& tool : tools) {
    for (const fs::path& folder : folders) {
      std::error_code error;
      if (fs::exists(folder / tool.path, error)) return {(folder / tool.path).string(), tool.options};
    }
  }
  std::string looked;
  for (const fs::path& folder : folders) looked += "\n  " + folder.string();
  throw UserError::format(
      "SASS needs nvdisasm or cuobjdump, and neither was found in:{}\n"
      "They come with the CUDA toolkit, with triton (pip install triton), and as pip install "
      "nvidia-cuda-nvdisasm",
      looked);
}

}  // namespace

std::string sass(const Cubin& cubin) {
  const Tool tool = find_tool();
  const TemporaryFile file(cubin.image);
  std::vector<std::string> command = {tool.path};
  command.insert(command.end(), tool.options.begin(), tool.options.end());
  command.push_back(file.path());
  const SubprocessResult result = run_subprocess(command);
  if (result.exit_code == 0) return result.output;
  throw UserError::format("{} failed on kernel {} for {} (exit code {}):\n{}{}", tool.path, cubin.kernel,
                          cubin.arch, result.exit_code, result.output, result.errors);
}

}  // namespace tessera
