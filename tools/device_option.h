#pragma once
#include <argp.h>
#include <string>

#include "tile_core/autotune/device.h"

namespace tessera::tools {

/// `--device NAME` or `--arch ARCH` of the commands that plan and compile; neither needs the device.
struct DeviceOption {
  std::string name;  ///< empty: not given

  /// The device of that name; else this machine's, under TESSERA_ARCH; else an H200. Throws UserError that
  /// lists the known ones.
  autotune::Device get() const;
};

/// The argp child; its input is a DeviceOption.
const argp& device_option();

}  // namespace tessera::tools
