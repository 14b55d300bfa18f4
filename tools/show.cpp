#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

#include "perf/call_words.h"
#include "perf/words.h"
#include "registration/dispatch/lowering.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/print.h"
#include "tile_core/passes/pipeline.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/sass.h"
#include "tile_core/target/schedule_fields.h"
#include "tools/command.h"
#include "tools/device_option.h"
#include "tools/landmarks.h"
#include "tools/memory_map.h"
#include "tools/roles_text.h"
#include "tools/subject.h"
#include "tools/timeline.h"

namespace tessera::tools {
namespace {

/// The words of the command.
struct Request {
  CallWords words;
  DeviceOption device;
  std::string stage = "summary";
  Choice choice;
};

std::string cuda(const Subject& s) {
  return s.executable()->kernel.text;
}

Cubin compiled(const Subject& s) {
  return compile(s.executable()->kernel, s.device.target, {.line_info = true, .keep_ptx = true});
}

std::string memory(const Subject& s) {
  return memory_map(s.executable()->program, s.device.target);
}

std::string roles(const Subject& s) {
  return roles_text(s.at(Stage::ready), s.at(Stage::masked), s.context());
}

std::string timeline(const Subject& s) {
  return tools::timeline(s.at(Stage::ready), s.device.target, s.problem.dims, s.scalars);
}

std::string landmark_line(const Cubin& cubin) {
  try {
    return landmarks(sass(cubin));
  } catch (const UserError& error) {
    return error.what();  // no disassembler: what to install
  }
}

std::string summary(const Subject& s) {
  const auto kernel = s.executable();
  const Cubin cubin = compile(kernel->kernel, s.device.target);
  std::string text =
      fmt::format("{}\n  {}, {} threads, {} registers, {} bytes of shared memory, compiled in {:.0f} ms\n",
                  kernel->kernel.name, s.device.target.arch, kernel->kernel.threads, cubin.registers,
                  kernel->kernel.shared_bytes, cubin.compile_ms);
  for (const std::string& complaint : cubin.complaints()) text += fmt::format("  warning: {}\n", complaint);
  text += fmt::format("  SASS: {}\n", landmark_line(cubin));
  const auto listed = [&](const ops::Variant& v) { return dispatch::variant_of(v) == s.variant; };
  if (std::ranges::none_of(s.space, listed))
    text += fmt::format("  not in the operator's list: {}\n", autotune::to_text(s.variant));
  text += "\nvariants (--variant N shows another)\n";
  for (std::size_t i = 0; i < s.space.size(); ++i) {
    const autotune::Variant variant = dispatch::variant_of(s.space[i]);
    text +=
        fmt::format("  {:>2}{} {}\n", i + 1, variant == s.variant ? "*" : " ", autotune::to_text(variant));
  }
  return text + "\n" + to_text(s.program());
}

struct StageText {
  std::string_view name;
  std::string (*text)(const Subject&);
};
constexpr StageText kStages[] = {{"summary", summary},
                                 {"tile", [](const Subject& s) { return to_text(s.program()); }},
                                 {"cuda", cuda},
                                 {"ptx", [](const Subject& s) { return compiled(s).ptx; }},
                                 {"sass", [](const Subject& s) { return sass(compiled(s)); }},
                                 {"memory", memory},
                                 {"roles", roles},
                                 {"timeline", timeline}};

/// What prints a stage; empty where it is neither of these nor a pass.
std::function<std::string(const Subject&)> printer_of(const std::string& name) {
  for (const StageText& stage : kStages) {
    if (stage.name == name) return stage.text;
  }
  for (const Pass& pass : pipeline()) {
    if (pass.name == name) return [name](const Subject& s) { return to_text(s.after(name)); };
  }
  return {};
}

std::string stage_names() {
  std::vector<std::string> names;
  for (const StageText& stage : kStages) names.emplace_back(stage.name);
  for (const Pass& pass : pipeline()) names.emplace_back(pass.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

constexpr int kTiles = 0x300, kSchedule = 0x301;  // no short forms

/// Whose fields are in their ranges; whether the kernel can have them is said when it is made.
Schedule legal_schedule(const std::string& text) {
  const Schedule schedule = schedule_from_text(text);
  if (const auto broken = broken_fields(schedule); !broken.empty())
    throw UserError::format("--schedule: {}", broken.front().sentence);
  return schedule;
}

/// Hands what a word breaks to argp_error.
void take(const std::function<void()>& read, argp_state* state) {
  try {
    read();
  } catch (const UserError& error) {
    argp_error(state, "%s", error.what());
  }
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
      request.choice.variant = whole_number("--variant", word, 1, state);
      return 0;
    case kTiles:
      take([&] { request.choice.tiles = tiles_from_text(word); }, state);
      return 0;
    case kSchedule:
      take([&] { request.choice.schedule = legal_schedule(word); }, state);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

}  // namespace

int show(int argc, char** argv) {
  constexpr argp_option kOptions[] = {
      {"stage", 's', "STAGE", 0,
       "what to print: summary (the default), tile, a pass, cuda, ptx, sass, memory, roles or timeline", 0},
      {"variant", 'v', "N", 0, "the N-th variant of the operator's list (the plan's)", 0},
      {"tiles", kTiles, "NAME=N,...", 0, "tiles by hand, as m=128,n=192 (the variant's)", 0},
      {"schedule", kSchedule, "TEXT", 0,
       "a schedule by hand, as \"stages=4 share=alternate\" or automatic (the variant's)", 0},
      {}};
  const argp_child children[] = {
      {&call_arguments(), 0, "The call:", 1}, {&device_option(), 0, "The device:", 2}, {}};
  Request request;
  parse_words(
      {kOptions, parse, "OP SHAPES",
       "A kernel on its way from tile program to machine code. No GPU is needed.\v"
       "Stages besides the passes' names: tile, cuda, ptx, sass; memory is the map of shared memory and "
       "registers; roles says who does what with which channels, or why there are no roles; timeline runs a "
       "small problem in the interpreter: which role waits for what. Examples:\n"
       "tessera show linear_gelu 4096x768x3072 --dtype bf16 --stage cuda\n"
       "tessera show linear 4096x4096x4096 --schedule share=alternate --stage roles",
       children, nullptr, nullptr},
      argc, argv, &request);
  const Subject subject = subject_of(request.words.call, request.device.get(), request.choice);
  fmt::print("{}", printer_of(request.stage)(subject));
  return kOk;
}

}  // namespace tessera::tools
