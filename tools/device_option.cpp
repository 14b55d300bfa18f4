#include "tools/device_option.h"

#include "registration/dispatch/planner.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/target/chosen_target.h"

namespace tessera::tools {
namespace {

constexpr int kDevice = 0x200, kArch = 0x201;  // no short forms

error_t parse(int key, char* word, argp_state* state) {
  if (key != kDevice && key != kArch) return ARGP_ERR_UNKNOWN;
  DeviceOption& option = *static_cast<DeviceOption*>(state->input);
  if (!option.name.empty()) {
    argp_error(state, "--device and --arch each name what to compile for, and %s is one already: give one",
               option.name.c_str());
    return EINVAL;
  }
  option.name = word;
  try {
    if (key == kArch) Target::named(word);
    autotune::device_named(word);
    return 0;
  } catch (const UserError& error) {
    argp_error(state, "%s", error.what());
    return EINVAL;
  }
}

}  // namespace

const argp& device_option() {
  static constexpr argp_option kOptions[] = {
      {"device", kDevice, "NAME", 0, "for this GPU, as H200 or A100, which need not be here", 0},
      {"arch", kArch, "ARCH", 0, "for this architecture, as sm_90a (this machine's GPU, else an H200)", 0},
      {}};
  static constexpr argp kArguments{kOptions, parse, nullptr, nullptr, nullptr, nullptr, nullptr};
  return kArguments;
}

autotune::Device DeviceOption::get() const {
  if (!name.empty()) return autotune::device_named(name);
  if (driver::available()) return dispatch::device_of(0);
  const Target* const chosen = chosen_target();
  return autotune::device_named(chosen == nullptr ? "H200" : chosen->arch);
}

}  // namespace tessera::tools
