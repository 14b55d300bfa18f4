#include "tessera/warmup.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <vector>

#include "perf/call_words.h"
#include "perf/matmul_precision.h"
#include "perf/problem.h"
#include "perf/progress.h"
#include "perf/words.h"
#include "tessera/policy.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/target/chosen_target.h"
#include "tools/command.h"
#include "tools/device_option.h"

namespace tessera::tools {
namespace {

/// The words of the command.
struct Request {
  CallWords words;
  std::string file;
  DeviceOption device;
};

error_t parse(int key, char* word, argp_state* state) {
  Request& request = *static_cast<Request*>(state->input);
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &request.words;
      state->child_inputs[1] = &request.device;
      return 0;
    case 'f':
      request.file = word;
      request.words.required = false;
      return 0;
    case 'p':
      set_policy(policy_from("--policy", word, state));
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/// The calls of a file, one per line; blank lines and those that begin with # are none.
std::vector<CallSpec> calls_of(const std::string& path) {
  errno = std::filesystem::is_directory(path) ? EISDIR : 0;
  std::ifstream file(path);
  if (errno == EISDIR || !file)
    throw UserError::format("cannot open {} ({}); --file names a file with one call per line", path,
                            std::strerror(errno));
  std::vector<CallSpec> calls;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos || line[begin] == '#') continue;
    try {
      calls.push_back(call_from_text(line));
    } catch (const UserError& error) {
      throw UserError::format("{}:{}: {}", path, number, error.what());
    }
  }
  return calls;
}

std::vector<CallSpec> calls_of(const Request& request) {
  std::vector<CallSpec> calls;
  if (!request.file.empty()) calls = calls_of(request.file);
  if (!request.words.call.op.empty()) calls.push_back(request.words.call);
  return calls;
}

/// Each call under the precision that its words ask for.
Warmup warm(const std::vector<CallSpec>& calls, const std::string& device) {
  perf::Progress progress;
  Warmup all;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const perf::MatmulPrecision precision(calls[i]);
    const Warmup one =
        tessera::warmup({perf::shape_of(calls[i])}, device, [&](auto, auto, const std::string& call) {
          progress.step(fmt::format("{} of {}: {}", i + 1, calls.size(), call));
        });
    all.kernels += one.kernels;
    all.compiled += one.compiled;
    all.native += one.native;
    all.failures.insert(all.failures.end(), one.failures.begin(), one.failures.end());
    if (all.cache_problem.empty()) all.cache_problem = one.cache_problem;
  }
  progress.clear();
  return all;
}

/// Empty: this machine's GPU.
std::string device_of(const Request& request) {
  if (!request.device.name.empty() || driver::available()) return request.device.name;
  const Target* chosen = chosen_target();
  if (chosen == nullptr)
    throw UserError("there is no GPU here: say with --device NAME or TESSERA_ARCH for which one to compile");
  return chosen->arch;
}

}  // namespace

int warmup(int argc, char** argv) {
  constexpr argp_option kOptions[] = {
      {"file", 'f', "FILE", 0, "a file with one call per line; # begins a comment", 0},
      {"policy", 'p', "WORD", 0,
       "auto: what plans choose; tile: a generated kernel for every call (TESSERA_POLICY)", 0},
      {}};
  const argp_child children[] = {
      {&call_arguments(), 0, "The call:", 1}, {&device_option(), 0, "The device:", 2}, {}};
  Request request;
  parse_words(
      {kOptions, parse, "OP SHAPES\n--file FILE",
       "Compiles the kernels of listed calls into the cache, so that no process has to. No GPU is needed. "
       "TESSERA_JIT=off compiles nothing here either: what the cache lacks is a failure.",
       children, nullptr, nullptr},
      argc, argv, &request);
  const Warmup result = warm(calls_of(request), device_of(request));
  fmt::print("kernels ready: {}, of them compiled now: {}; calls that run native: {}\n", result.kernels,
             result.compiled, result.native);
  for (const Warmup::Failure& failure : result.failures)
    fmt::print("failed: {}: {}\n", failure.call, failure.problem);
  if (result.native > 0 && policy() == Policy::automatic)
    fmt::print(
        "where a plan is native there is nothing to compile; -p tile compiles a generated kernel for every "
        "call\n");
  if (!result.cache_problem.empty())
    fmt::print("failed: the cache was not filled: {}\n", result.cache_problem);
  return result.failures.empty() && result.cache_problem.empty() ? kOk : kFailed;
}

}  // namespace tessera::tools
