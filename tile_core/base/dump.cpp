#include "tile_core/base/dump.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tile_core/base/env.h"
#include "tile_core/base/error.h"

namespace tessera::dump {

void write(std::string_view kind, const std::string& kernel, const std::string& suffix,
           const std::string& text) {
  if (!env::dumps(kind)) return;
  const std::string folder = env::dump_dir();
  if (folder.empty()) {
    const std::string block =
        fmt::format("// ---- {}.{}\n{}{}", kernel, suffix, text, text.ends_with('\n') ? "" : "\n");
    std::fwrite(block.data(), 1, block.size(), stderr);
    return;
  }
  std::error_code ignored;  // the open below reports what matters
  std::filesystem::create_directories(folder, ignored);
  const std::filesystem::path path = std::filesystem::path(folder) / (kernel + "." + suffix);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw UserError::format("TESSERA_DUMP_DIR={}: cannot write {} ({}); name a folder that can be written",
                            folder, path.string(), std::strerror(errno));
  }
}

}  // namespace tessera::dump
