#include "tile_core/runtime/shared_library.h"

#include <dlfcn.h>
#include <filesystem>
#include <link.h>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

std::string path_of(void* handle, const std::string& asked_for) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name[0] == '\0')
    return asked_for;
  return map->l_name;
}

}  // namespace

SharedLibrary SharedLibrary::open_first(std::string_view what, const std::vector<std::string>& candidates,
                                        std::string_view help) {
  std::string tried;
  for (const std::string& candidate : candidates) {
    void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return {handle, path_of(handle, candidate)};
    const char* reason = dlerror();
    tried += fmt::format("\n  {}: {}", candidate, reason == nullptr ? "unknown reason" : reason);
  }
  throw UserError::format("{} was not found; tried:{}\n{}", what, tried, help);
}

void* SharedLibrary::find(const char* symbol) const {
  return dlsym(handle_, symbol);
}

void* SharedLibrary::require(const char* symbol) const {
  void* address = find(symbol);
  if (address == nullptr)
    throw UserError::format("{} has no function {}: it is too old for Tessera", path_, symbol);
  return address;
}

std::vector<std::string> loaded_libraries(std::string_view prefix) {
  struct Search {
    std::string_view prefix;
    std::vector<std::string> found;
  } search{prefix, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        const std::string_view name = path.substr(path.rfind('/') + 1);
        if (name.starts_with(s.prefix)) s.found.emplace_back(path);
        return 0;
      },
      &search);
  return search.found;
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace tessera
