#pragma once
#include <regex>
#include <string>
#include <vector>

#include "tests/support/emulate.h"
#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"

namespace tessera::test {

/// Runs a kernel that is written on the twins by hand; returns "right", or the first complaint after the
/// kernel's name, places in memory as AT.
inline std::string complaint(KernelText kernel, const std::vector<TensorView>& tensors,
                             const std::vector<double>& scalars, Landing landing = Landing::last) {
  kernel.text = prelude_text(Prelude::emulated) + kernel.text;
  try {
    emulate(kernel, tensors, scalars, landing);
    return "right";
  } catch (const InternalError& error) {
    std::string text = std::regex_replace(error.what(), std::regex("0x[0-9a-f]+"), "AT");
    return std::regex_replace(text, std::regex("internal tessera error: emulation: \\w+: "), "");
  }
}

/// Both landings, where they say the same.
inline std::string both(const KernelText& kernel, const std::vector<TensorView>& tensors,
                        const std::vector<double>& scalars) {
  std::string last = complaint(kernel, tensors, scalars, Landing::last);
  std::string first = complaint(kernel, tensors, scalars, Landing::first);
  return last == first ? last : last + " / " + first;
}

}  // namespace tessera::test
