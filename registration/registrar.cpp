#include "registration/registrar.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/version.h>

#include "tile_core/base/log.h"
#include "tile_core/base/version.h"

namespace tessera {
namespace {

bool ours = false;  // written while the process loads this copy, which only one thread does

std::array<int, 3> running_torch() {
  const std::uint64_t version = aoti_torch_abi_version();  // one byte each: major, minor, patch, ...
  const auto byte = [&](unsigned shift) { return static_cast<int>(version >> shift & 0xffU); };
  return {byte(56), byte(48), byte(40)};
}

}  // namespace

std::string torch_version() {
  return fmt::format("{}", fmt::join(running_torch(), "."));
}

std::string torch_problem() {
  const auto [major, minor, patch] = running_torch();
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
