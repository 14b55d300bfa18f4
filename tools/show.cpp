#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

#include "perf/call_words.h"
#include "perf/problem.h"
#include "perf/words.h"
#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/pipeline.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/sass.h"
#include "tools/command.h"
#include "tools/device_option.h"
#include "tools/landmarks.h"
#include "tools/memory_map.h"

namespace tessera::tools {
namespace {

/// The words of the command.
struct Request {
  CallWords words;
  DeviceOption device;
  std::string stage = "summary";
  int variant = 0;  ///< of the operator's list, from 1 on; 0: the plan's
};

/// A kernel that `show` looks at.
struct Subject {
  const ops::Operator* op;
  ops::Problem problem;
  autotune::Device device;
  std::vector<ops::Variant> space;
  autotune::Variant variant;
};

Subject subject_of(const Request& request) {
  const Call call = perf::call_of(request.words.call);
  Subject s{.op = &call.op(), .problem = call.problem(), .device = request.device.get()};
  s.space = s.op->space(s.problem, s.device.target);
  const int count = static_cast<int>(s.space.size());
  if (request.variant > count)
    throw UserError::format("--variant {}: the operator has the variants 1 to {} here", request.variant,
                            count);
  if (request.variant > 0) {
    s.variant = dispatch::variant_of(s.space[static_cast<std::size_t>(request.variant - 1)]);
    return s;
  }
  const autotune::Plan plan = dispatch::plan_of(*s.op, s.problem, s.device, Policy::tile);
  if (!plan.tile)
    throw UserError::format("no tile kernel supports this call on {}: {}", s.device.name, plan.unsupported);
  s.variant = *plan.tile;
  return s;
}

Program tile_program(const Subject& s) {
  return s.op->program(s.problem.facts, s.variant.tiles);
}

/// The program after one pass.
std::string after_pass(const Subject& s, std::string_view name) {
  std::string text;
  lower(tile_program(s), {s.problem.facts, s.variant.schedule, s.device.target},
        [&](const Pass& pass, const Program& program) {
          if (pass.name == name) text = to_text(program);
        });
  return text;
}

std::shared_ptr<const Executable> executable(const Subject& s) {
  return dispatch::lower(*s.op, s.problem.facts, s.variant, s.device.target);
}

std::string cuda(const Subject& s) {
  return executable(s)->kernel.text;
}

Cubin compiled(const Subject& s) {
  return compile(executable(s)->kernel, s.device.target, {.line_info = true, .keep_ptx = true});
}

std::string memory(const Subject& s) {
  return memory_map(executable(s)->program, s.device.target);
}

std::string landmark_line(const Cubin& cubin) {
  try {
    return landmarks(sass(cubin));
  } catch (const UserError& error) {
    return error.what();  // no disassembler: what to install
  }
}

std::string summary(const Subject& s) {
  const auto kernel = executable(s);
  const Cubin cubin = compile(kernel->kernel, s.device.target);
  std::string text =
      fmt::format("{}\n  {}, {} threads, {} registers, {} bytes of shared memory, compiled in {:.0f} ms\n",
                  kernel->kernel.name, s.device.target.arch, kernel->kernel.threads, cubin.registers,
                  kernel->kernel.shared_bytes, cubin.compile_ms);
  for (const std::string& complaint : cubin.complaints()) text += fmt::format("  warning: {}\n", complaint);
  text += fmt::format("  SASS: {}\n\nvariants (--variant N shows another)\n", landmark_line(cubin));
  for (std::size_t i = 0; i < s.space.size(); ++i) {
    const autotune::Variant variant = dispatch::variant_of(s.space[i]);
    text +=
        fmt::format("  {:>2}{} {}\n", i + 1, variant == s.variant ? "*" : " ", autotune::to_text(variant));
  }
  return text + "\n" + to_text(tile_program(s));
}

struct StageText {
  std::string_view name;
  std::string (*text)(const Subject&);
};
constexpr StageText kStages[] = {{"summary", summary},
                                 {"tile", [](const Subject& s) { return to_text(tile_program(s)); }},
                                 {"cuda", cuda},
                                 {"ptx", [](const Subject& s) { return compiled(s).ptx; }},
                                 {"sass", [](const Subject& s) { return sass(compiled(s)); }},
                                 {"memory", memory}};

/// What prints a stage; empty where it is neither of these nor a pass.
std::function<std::string(const Subject&)> printer_of(const std::string& name) {
  for (const StageText& stage : kStages) {
    if (stage.name == name) return stage.text;
  }
  for (const Pass& pass : pipeline()) {
    if (pass.name == name) return [name](const Subject& s) { return after_pass(s, name); };
  }
  return {};
}

std::string stage_names() {
  std::vector<std::string> names;
  for (const StageText& stage : kStages) names.emplace_back(stage.name);
  for (const Pass& pass : pipeline()) names.emplace_back(pass.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

error_t parse(int key, char* word, argp_state* state) {
  Request& request = *static_cast<Request*>(state->input);
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &request.words;
      state->child_inputs[1] = &request.device;
      return 0;
    case 's':
      request.stage = word;
      if (!printer_of(word))
        argp_error(state, "no stage is called '%s'; there are %s", word, stage_names().c_str());
      return 0;
    case 'v':
      request.variant = whole_number("--variant", word, 1, state);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

}  // namespace

int show(int argc, char** argv) {
  constexpr argp_option kOptions[] = {
      {"stage", 's', "STAGE", 0,
       "what to print: summary (the default), tile, a pass, cuda, ptx, sass or memory", 0},
      {"variant", 'v', "N", 0, "the N-th variant of the operator's list (the plan's)", 0},
      {}};
  const argp_child children[] = {
      {&call_arguments(), 0, "The call:", 1}, {&device_option(), 0, "The device:", 2}, {}};
  Request request;
  parse_words(
      {kOptions, parse, "OP SHAPES",
       "A kernel on its way from tile program to machine code. No GPU is needed.\v"
       "Stages besides the passes' names: tile, cuda, ptx, sass; memory is the map of shared memory and "
       "registers. Example: tessera show linear_gelu 4096x768x3072 --dtype bf16 --stage cuda",
       children, nullptr, nullptr},
      argc, argv, &request);
  fmt::print("{}", printer_of(request.stage)(subject_of(request)));
  return kOk;
}

}  // namespace tessera::tools
