#include "tile_core/base/error.h"

namespace tessera {

std::string diagnostic(const std::string& what, Loc loc, const std::string& details,
                       const std::string& help) {
  std::string text = "tile error: " + what;
  if (loc.line > 0) text += fmt::format("\n  --> {}:{}", loc.file, loc.line);
  if (!details.empty()) text += "\n   " + details;
  if (!help.empty()) text += "\n   help: " + help;
  return text;
}

}  // namespace tessera
