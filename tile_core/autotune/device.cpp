#include "tile_core/autotune/device.h"

#include <array>

#include "tile_core/base/error.h"

namespace tessera::autotune {
namespace {

struct Known {
  std::string_view part;  ///< of the name
  std::string_view full;
  std::string_view arch;
};

constexpr std::array kKnown = {
    Known{"H200", "NVIDIA H200", "sm_90a"},
    Known{"H100", "NVIDIA H100 80GB HBM3", "sm_90a"},
    Known{"A100", "NVIDIA A100-SXM4-80GB", "sm_80"},
    Known{"L40", "NVIDIA L40S", "sm_89"},
    Known{"4090", "NVIDIA GeForce RTX 4090", "sm_89"},
    Known{"A10", "NVIDIA A10", "sm_86"},
    Known{"3090", "NVIDIA GeForce RTX 3090", "sm_86"},
    Known{"B200", "NVIDIA B200", "sm_100a"},
    Known{"B300", "NVIDIA B300", "sm_103a"},
    Known{"5090", "NVIDIA GeForce RTX 5090", "sm_120a"},
};

}  // namespace

Device device_named(std::string_view name) {
  for (const Target& target : Target::all()) {
    if (target.arch == name) return {target.arch, target};
  }
  std::string parts;
  for (const Known& known : kKnown) {
    if (!name.empty() && name.find(known.part) != name.npos)
      return {std::string(name == known.part ? known.full : name), Target::named(known.arch)};
    parts += std::string(parts.empty() ? "" : ", ") + std::string(known.part);
  }
  std::string arches;
  for (const Target& target : Target::all()) arches += (arches.empty() ? "" : ", ") + target.arch;
  throw UserError::format("no device is called '{}'; known are the names with {}, and the architectures {}",
                          name, parts, arches);
}

}  // namespace tessera::autotune
