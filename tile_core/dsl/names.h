#pragma once
#include <string>

#include "tile_core/base/loc.h"

namespace tessera::dsl {

/// Throws UserError where this is no name for such a thing: it goes into the program's text and into C++.
void check_name(const std::string& name, const char* what, Loc loc);

}  // namespace tessera::dsl
