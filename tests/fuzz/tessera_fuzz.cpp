#include <argp.h>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sstream>

#include "perf/words.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/check_call.h"
#include "tests/fuzz/check_program.h"
#include "tests/fuzz/soak.h"

// The fuzzer: random programs through all passes, random operator calls against ATen, and the soak on a
// device.
namespace tessera::fuzz {
namespace {

struct Request {
  int programs = 0, calls = 0, soak_seconds = 0;
  Limits limits;
  ProgramDepth depth;
  std::string device = "cpu";
  std::optional<std::vector<int>> replayed;
};

std::vector<int> numbers(const char* word, argp_state* state) {
  std::vector<int> list;
  std::istringstream stream(word);
  for (std::string part; std::getline(stream, part, ',');)
    list.push_back(whole_number("--replay", part.c_str(), 0, state));
  return list;
}

error_t parse(int key, char* word, argp_state* state) {
  Request& request = *static_cast<Request*>(state->input);
  switch (key) {
    case 'p':
      request.programs = whole_number("--programs", word, 1, state);
      return 0;
    case 'c':
      request.calls = whole_number("--calls", word, 1, state);
      return 0;
    case 'k':
      request.soak_seconds = whole_number("--soak", word, 1, state);
      return 0;
    case 's':
      request.limits.seed = static_cast<std::uint64_t>(whole_number("--seed", word, 0, state));
      return 0;
    case 't':
      request.limits.seconds = whole_number("--seconds", word, 1, state);
      return 0;
    case 'h':
      request.limits.shrink_seconds = whole_number("--shrink", word, 0, state);
      return 0;
    case 'e':
      request.depth.emulated = whole_number("--emulate", word, 0, state);
      return 0;
    case 'n':
      request.depth.compiled = whole_number("--compile", word, 0, state);
      return 0;
    case 'd':
      request.device = word;
      if (request.device != "cpu" && request.device != "cuda")
        argp_error(state, "--device: expected cpu or cuda but got '%s'", word);
      return 0;
    case 'r':
      request.replayed = numbers(word, state);
      return 0;
    case ARGP_KEY_END:
      if (request.programs == 0 && request.calls == 0 && request.soak_seconds == 0)
        argp_error(state, "expected --programs, --calls or --soak");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

int run_or_replay(const Campaign& campaign, int cases, const Request& request) {
  if (request.replayed) return replay(campaign, *request.replayed);
  Limits limits = request.limits;
  limits.cases = cases;
  return fuzz::run(campaign, limits);
}

int run_command(int argc, char** argv) {
  constexpr argp_option kOptions[] = {
      {"programs", 'p', "N", 0, "N random programs through all passes, under random schedules", 0},
      {"calls", 'c', "N", 0, "N random operator calls against ATen and float64, under policy tile", 0},
      {"soak", 'k', "SECONDS", 0, "mixed calls of 8 threads on a GPU, with graphs; memory has to stay flat",
       0},
      {"seed", 's', "N", 0, "the seed of the first case (1); the next has the next", 1},
      {"seconds", 't', "N", 0, "ends programs, and calls, after that long (no limit)", 1},
      {"shrink", 'h', "SECONDS", 0, "for each failure (60)", 1},
      {"emulate", 'e', "PERCENT", 0, "of the programs, whose text g++ builds and the CPU runs (0)", 1},
      {"compile", 'n', "PERCENT", 0, "of the programs, which NVRTC compiles (0)", 1},
      {"device", 'd', "cpu|cuda", 0, "where calls run (cpu: the interpreter)", 1},
      {"replay", 'r', "LIST", 0, "in place of seeds, the case of these choices, as a failure prints them", 1},
      {}};
  const argp grammar{kOptions, parse,   nullptr, "Looks for programs and calls that Tessera gets wrong.",
                     nullptr,  nullptr, nullptr};
  argp_err_exit_status = 2;
  Request request;
  argp_parse(&grammar, argc, argv, 0, nullptr, &request);
  int failures = 0;
  if (request.programs > 0) {
    const ProgramDepth depth = request.depth;
    const Campaign campaign{"programs",
                            fmt::format("--emulate {} --compile {}", depth.emulated, depth.compiled),
                            [depth](Choices& c, Counts& counts) { return check_program(c, depth, counts); }};
    failures += run_or_replay(campaign, request.programs, request);
  }
  if (request.calls > 0) {
    const std::string device = request.device;
    const Campaign campaign{"calls", "--device " + device,
                            [device](Choices& c, Counts& counts) { return check_call(c, device, counts); }};
    failures += run_or_replay(campaign, request.calls, request);
  }
  if (request.soak_seconds > 0) failures += soak(request.soak_seconds, request.limits.seed);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tessera::fuzz

int main(int argc, char** argv) {
  try {
    return tessera::fuzz::run_command(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tessera_fuzz: {}\n", error.what());
    return 1;
  }
}
