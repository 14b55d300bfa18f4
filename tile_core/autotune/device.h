#pragma once
#include <string>
#include <string_view>

#include "tile_core/target/target.h"

namespace tessera::autotune {

/// A device that plans are made for, which need not be in this machine.
struct Device {
  std::string name;  ///< as the driver calls it, "NVIDIA H200"
  Target target;
};

/// By the name or a part of it ("H200", "A100"), or by an architecture ("sm_90a"), which then is the name,
/// too. Throws UserError that lists what is known.
Device device_named(std::string_view name);

}  // namespace tessera::autotune
