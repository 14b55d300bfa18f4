#include "perf/bench.h"

#include <fmt/format.h>
#include <fstream>

#include "perf/call_words.h"
#include "perf/progress.h"
#include "perf/words.h"
#include "tessera/policy.h"
#include "tile_core/base/error.h"
#include "tools/command.h"

namespace tessera::tools {
namespace {

/// The words of the command.
struct Request {
  CallWords words;
  std::string json;
  std::string record;
  perf::Settings settings;
};

error_t parse(int key, char* word, argp_state* state) {
  Request& request = *static_cast<Request*>(state->input);
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &request.words;
      return 0;
    case 'p':
      set_policy(policy_from("--policy", word, state));
      return 0;
    case 'j':
      request.json = word;
      return 0;
    case 'r':
      request.record = word;
      return 0;
    case 'n':
      request.settings.rounds = whole_number("--rounds", word, 1, state);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

void write_json(const std::string& path, const nlohmann::json& json) {
  std::ofstream file(path);
  file << json.dump(1) << '\n';
  if (!file.flush())
    throw UserError::format("cannot write {}; give --json a file in a folder that you may write", path);
}

}  // namespace

int bench(int argc, char** argv) {
  constexpr argp_option kOptions[] = {
      {"json", 'j', "FILE", 0, "write the result there, too", 0},
      {"record", 'r', "FILE", 0,
       "measure every variant and add the call's record to FILE (see TESSERA_RECORDS)", 0},
      {"rounds", 'n', "N", 0, "rounds of measurements (15)", 0},
      {"policy", 'p', "WORD", 0, "what ours runs: auto, tile or native (tile)", 0},
      {}};
  const argp_child children[] = {{&call_arguments(), 0, "The call:", 1}, {}};
  Request request;
  set_policy(Policy::tile);
  parse_words(
      {kOptions, parse, "OP SHAPES",
       "Measures a call on this machine's GPU: ours and every native candidate, interleaved in one process, "
       "on "
       "random normal data, after the result was checked against float64. cold: single launches after the L2 "
       "cache was overwritten; steady: blocks of back-to-back launches.",
       children, nullptr, nullptr},
      argc, argv, &request);
  perf::Progress progress;
  perf::Bench bench(request.settings, [&](const std::string& step) { progress.step(step); });
  if (!request.record.empty()) perf::add_to_file(request.record, bench.tune(request.words.call));
  const perf::Row row = bench.measure(request.words.call);
  progress.clear();
  fmt::print("{}", to_text(row));
  if (request.json.empty()) return kOk;
  nlohmann::json json = bench.surroundings();
  json["rows"] = {to_json(row)};
  write_json(request.json, json);
  return kOk;
}

}  // namespace tessera::tools
