#include "tile_core/dsl/names.h"

#include <algorithm>
#include <cctype>

#include "tile_core/base/error.h"

namespace tessera::dsl {

void check_name(const std::string& name, const char* what, Loc loc) {
  bool good =
      !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (good) return;
  throw UserError(diagnostic(fmt::format("'{}' is no name for a {}", name, what), loc, "",
                             "letters, digits and underscores, the first no digit"));
}

}  // namespace tessera::dsl
