#include <algorithm>
#include <argp.h>
#include <fmt/format.h>

#include "perf/bench.h"
#include "perf/failures.h"
#include "perf/families.h"
#include "perf/progress.h"
#include "perf/words.h"
#include "tile_core/base/error.h"

// The device programs that are written by hand, measured beside the passes' kernels and native ones.
namespace tessera::perf {
namespace {

/// The words of the command line.
struct Request {
  std::vector<std::string> programs;  ///< empty: all
  std::string texts = "tests/golden/device_programs";
  std::string out;
  Settings settings;
};

std::string program_names() {
  std::string names;
  for (const CallList& list : device_program_calls()) names += (names.empty() ? "" : ", ") + list.name;
  return names;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

error_t parse(int key, char* word, argp_state* state) {
  Request& request = *static_cast<Request*>(state->input);
  switch (key) {
    case 'o':
      request.out = word;
      return 0;
    case 't':
      request.texts = word;
      return 0;
    case 'n':
      request.settings.rounds = whole_number("--rounds", word, 1, state);
      return 0;
    case ARGP_KEY_ARG:
      if (std::ranges::none_of(device_program_calls(),
                               [&](const CallList& list) { return list.name == word; }))
        argp_error(state, "no device program is called '%s'; there are %s", word, program_names().c_str());
      request.programs.emplace_back(word);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/// True where every program could be measured.
bool measure(const Request& request) {
  Progress progress;
  std::string call;
  Bench bench(request.settings,
              [&](const std::string& step) { progress.step(fmt::format("{}: {}", call, step)); });
  nlohmann::json rows = nlohmann::json::array();
  Failures failures;
  for (const CallList& list : device_program_calls()) {
    if (!request.programs.empty() && !contains(request.programs, list.name)) continue;
    for (const CallSpec& spec : list.calls) {
      call = to_text(spec);
      failures.attempt(call, progress, [&] {
        const DeviceRow row = bench.measure_by_hand(spec, request.texts, list.name);
        progress.clear();
        fmt::print("{}\n", to_text(row));
        rows.push_back(to_json(row));
      });
    }
  }
  nlohmann::json result = {{"family", "device_programs"}, {"rows", rows}, {"failures", failures.list()}};
  result.update(bench.surroundings());
  write_result(request.out, "device_programs", result);
  return failures.none();
}

int run(int argc, char** argv) {
  constexpr argp_option kOptions[] = {
      {"out", 'o', "FOLDER", 0, "where the result goes (perf/results/<device>)", 0},
      {"texts", 't', "FOLDER", 0, "where the programs lie (tests/golden/device_programs)", 0},
      {"rounds", 'n', "N", 0, "rounds of measurements (15)", 0},
      {}};
  const argp grammar{
      kOptions,
      parse,
      "[PROGRAM ...]",
      "Measures the device programs that are written by hand on this machine's GPU, all of them "
      "where none is named, beside the kernels that the passes make, and native ones.",
      nullptr,
      nullptr,
      nullptr};
  argp_err_exit_status = 2;
  Request request;
  argp_parse(&grammar, argc, argv, 0, nullptr, &request);
  return measure(request) ? 0 : 1;
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  try {
    return tessera::perf::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_device: {}\n", error.what());
    return 1;
  }
}
