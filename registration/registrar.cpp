#include "registration/registrar.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <cstdint>
#include <fmt/format.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/version.h>

#include "tile_core/base/log.h"
#include "tile_core/base/version.h"

namespace tessera {
namespace {

bool ours = false;  // written while the process loads this copy, which only one thread does

}  // namespace

std::string torch_problem() {
  const std::uint64_t torch = aoti_torch_abi_version();  // one byte each: major, minor, patch, ...
  const auto major = static_cast<int>(torch >> 56U & 0xffU), minor = static_cast<int>(torch >> 48U & 0xffU);
  if (major == TORCH_VERSION_MAJOR && minor == TORCH_VERSION_MINOR) return {};
  return fmt::format(
      "tessera {} was built for torch {}.{}, but this process runs torch {}.{}: its operators are not "
      "registered. Install "
      "torch {}.{}, or build Tessera for the torch you have",
      version(), TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, major, minor, TORCH_VERSION_MAJOR,
      TORCH_VERSION_MINOR);
}

bool may_register() {
  if (ours) return true;
  const std::string problem = torch_problem();
  if (!problem.empty()) {
    log::warn_once("torch", problem);
    return false;
  }
  if (!c10::Dispatcher::singleton().findSchema({"tessera::add", ""}).has_value()) return true;
  log::warn_once("copy",
                 "another copy of libtessera.so is loaded in this process: this one registers nothing");
  return false;
}

void schemas_are_ours() {
  ours = true;
}

}  // namespace tessera
