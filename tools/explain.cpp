#include "tessera/explain.h"

#include <fmt/format.h>

#include "perf/call_words.h"
#include "perf/matmul_precision.h"
#include "perf/problem.h"
#include "perf/words.h"
#include "tessera/policy.h"
#include "tile_core/runtime/driver.h"
#include "tools/command.h"
#include "tools/device_option.h"

namespace tessera::tools {
namespace {

/// The words of the command.
struct Request {
  CallWords words;
  DeviceOption device;
};

error_t parse(int key, char* word, argp_state* state) {
  Request& request = *static_cast<Request*>(state->input);
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &request.words;
      state->child_inputs[1] = &request.device;
      return 0;
    case 'p':
      set_policy(policy_from("--policy", word, state));
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

}  // namespace

int explain(int argc, char** argv) {
  constexpr argp_option kOptions[] = {
      {"policy", 'p', "WORD", 0, "auto, tile or native (TESSERA_POLICY, else auto)", 0}, {}};
  const argp_child children[] = {
      {&call_arguments(), 0, "The call:", 1}, {&device_option(), 0, "The device:", 2}, {}};
  Request request;
  parse_words({kOptions, parse, "OP SHAPES",
               "The plan for a call of dense tensors: which kernel runs, who says so, what every candidate "
               "measured, and "
               "why the others were rejected. No GPU is needed: without one it is the plan for an H200, or "
               "for --device.",
               children, nullptr, nullptr},
              argc, argv, &request);
  const CallShape shape = perf::shape_of(request.words.call);
  const perf::MatmulPrecision precision(request.words.call);
  const bool elsewhere = request.device.name.empty() && !driver::available();
  const std::string device = elsewhere ? request.device.get().name : request.device.name;
  fmt::print("{}", tessera::explain(shape.op, shape.shapes, shape.options, device).text());
  if (elsewhere)
    fmt::print("There is no GPU here: this is the plan for {}; --device names another. On the CPU {}.\n",
               device, policy() == Policy::tile ? "the interpreter runs" : "ATen runs");
  return kOk;
}

}  // namespace tessera::tools
