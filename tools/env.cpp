#include "tile_core/base/env.h"

#include <fmt/format.h>

#include "tools/command.h"

namespace tessera::tools {

int env(int argc, char** argv) {
  parse_words({nullptr, nullptr, nullptr, "Prints every TESSERA_* variable.", nullptr, nullptr, nullptr},
              argc, argv, nullptr);
  fmt::print("{}", env::print_table());
  return kOk;
}

}  // namespace tessera::tools
