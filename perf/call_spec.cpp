#include "perf/call_spec.h"

#include <fmt/ranges.h>

namespace tessera {

std::string to_text(const CallSpec& spec) {
  std::string text = fmt::format("{} {}", spec.op, fmt::join(spec.shape, "x"));
  if (!spec.other.empty()) text += fmt::format(" --other {}", fmt::join(spec.other, "x"));
  if (spec.dim != -1) text += fmt::format(" --dim {}", spec.dim);
  if (!spec.bias) text += " --no-bias";
  if (spec.approximate != "none") text += " --approximate " + spec.approximate;
  if (spec.training) text += " --training";
  if (spec.causal) text += " --causal";
  if (spec.mask != CallSpec::Mask::none)
    text += spec.mask == CallSpec::Mask::boolean ? " --mask bool" : " --mask added";
  if (spec.kv_heads != 0) text += fmt::format(" --kv-heads {}", spec.kv_heads);
  if (spec.kv_length != 0) text += fmt::format(" --kv-length {}", spec.kv_length);
  return text + fmt::format(" --dtype {}{}", name_of(spec.dtype), spec.tf32 ? " --tf32" : "");
}

}  // namespace tessera
