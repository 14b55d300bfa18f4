#include "tile_core/target/chosen_target.h"

#include "tile_core/base/env.h"
#include "tile_core/base/error.h"

namespace tessera {

const Target* chosen_target() {
  const std::string arch = env::arch();
  if (arch.empty()) return nullptr;
  try {
    return &Target::named(arch);
  } catch (const UserError& error) {
    throw UserError::format("TESSERA_ARCH={} is not legal: {}; unset it for the device's own", arch,
                            error.what());
  }
}

}  // namespace tessera
