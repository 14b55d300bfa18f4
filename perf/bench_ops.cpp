#include <argp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "perf/bench.h"
#include "perf/failures.h"
#include "perf/families.h"
#include "perf/host_time.h"
#include "perf/progress.h"
#include "perf/words.h"
#include "registration/dispatch/planner.h"
#include "tessera/policy.h"
#include "tile_core/base/error.h"

// The benchmarks: families of calls, each into one file of results.
namespace tessera::perf {
namespace {

/// The words of the command line.
struct Request {
  std::vector<std::string> families;
  std::string out;
  std::string record;
  Settings settings;
};

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const CallList& family : speed_families()) names.emplace_back(family.name);
  names.emplace_back("host_time");
  names.emplace_back("accuracy");
  return names;
}

error_t parse(int key, char* word, argp_state* state) {
  Request& request = *static_cast<Request*>(state->input);
  switch (key) {
    case 'o':
      request.out = word;
      return 0;
    case 'r':
      request.record = word;
      return 0;
    case 'n':
      request.settings.rounds = whole_number("--rounds", word, 1, state);
      return 0;
    case 'p':
      set_policy(policy_from("--policy", word, state));
      return 0;
    case ARGP_KEY_ARG: {
      const std::vector<std::string> names = family_names();
      if (std::ranges::find(names, word) == names.end())
        argp_error(state, "no family is called '%s'; there are %s", word,
                   fmt::format("{}", fmt::join(names, ", ")).c_str());
      request.families.emplace_back(word);
      return 0;
    }
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/// Where results go, and what is said meanwhile.
class Session {
 public:
  explicit Session(const Request& request)
      : request_(request), bench_(request.settings, [this](const std::string& step) { say(step); }) {}

  /// False where a call of the family failed.
  bool run(const std::string& name) {
    family_ = name;
    failures_ = {};
    nlohmann::json result = name == "accuracy" ? accuracy() : name == "host_time" ? host_time() : speed(name);
    result["family"] = name;
    result["failures"] = failures_.list();
    result.update(bench_.surroundings());
    write_result(request_.out, name, result);
    return failures_.none();
  }

 private:
  void say(const std::string& step) { progress_.step(fmt::format("{}: {}: {}", family_, call_, step)); }

  /// What `measure` gives for each call; a call that throws is a failure.
  template <typename Measure>
  void for_each(const std::vector<CallSpec>& calls, const Measure& measure) {
    for (const CallSpec& spec : calls) {
      call_ = to_text(spec);
      failures_.attempt(call_, progress_, [&] { measure(spec); });
    }
    progress_.clear();
  }

  nlohmann::json speed(const std::string& name) {
    Family family{name, {}};
    for (const CallList& list : speed_families()) {
      if (list.name != name) continue;
      for_each(list.calls, [&](const CallSpec& spec) {
        if (!request_.record.empty()) tune(spec);
        family.rows.push_back(bench_.measure(spec));
      });
    }
    if (family.rows.empty()) return {{"rows", nlohmann::json::array()}};
    fmt::print("{}\n", to_text(family));
    return to_json(family);
  }

  /// The call is measured with what its record says.
  void tune(const CallSpec& spec) {
    const autotune::Record record = bench_.tune(spec);
    add_to_file(request_.record, record);
    dispatch::use_record(record);
  }

  nlohmann::json accuracy() {
    nlohmann::json rows = nlohmann::json::array();
    for_each(accuracy_calls(), [&](const CallSpec& spec) {
      for (const bool gradient : {false, true}) {
        say(gradient ? "gradient" : "forward");
        const Accuracy found =
            gradient ? measure_gradient_accuracy(spec, "cuda") : measure_accuracy(spec, "cuda");
        progress_.clear();
        fmt::print("{:<5} {:<62}{:<9} {}\n", found.holds() ? "ok" : "WRONG", call_,
                   gradient ? "gradient" : "forward", found.text());
        rows.push_back(
            {{"call", call_}, {"kind", gradient ? "gradient" : "forward"}, {"accuracy", to_json(found)}});
        if (!found.holds()) throw UserError(found.text());
      }
    });
    return {{"rows", rows}};
  }

  nlohmann::json host_time() {
    nlohmann::json rows = nlohmann::json::array();
    for_each(small_calls(), [&](const CallSpec& spec) {
      for (const bool grad : {false, true}) {
        say(grad ? "with grad" : "without grad");
        const HostTime time = measure_host_time(spec, grad, request_.settings.rounds);
        progress_.clear();
        fmt::print("{:<50}{:<8} ours {:>6.2f} us, native {:>6.2f} us\n", call_, grad ? "grad" : "no grad",
                   time.ours.median, time.native.median);
        rows.push_back({{"call", call_},
                        {"grad", grad},
                        {"ours_us", time.ours.median},
                        {"native_us", time.native.median}});
      }
    });
    return {{"rows", rows}};
  }

  const Request& request_;
  Progress progress_;
  Bench bench_;
  std::string family_, call_;
  Failures failures_;
};

int run(int argc, char** argv) {
  constexpr argp_option kOptions[] = {
      {"out", 'o', "FOLDER", 0, "where results go (perf/results/<device>)", 0},
      {"record", 'r', "FILE", 0, "before each call, measure every variant and add its record to FILE", 0},
      {"rounds", 'n', "N", 0, "rounds of measurements (15)", 0},
      {"policy", 'p', "WORD", 0, "what ours runs: auto, tile or native (TESSERA_POLICY, else auto)", 0},
      {}};
  const argp grammar{
      kOptions,       parse,
      "[FAMILY ...]", "Measures families of calls on this machine's GPU, all of them where none is named.",
      nullptr,        nullptr,
      nullptr};
  argp_err_exit_status = 2;
  Request request;
  argp_parse(&grammar, argc, argv, 0, nullptr, &request);
  if (request.families.empty()) request.families = family_names();
  Session session(request);
  bool all = true;
  for (const std::string& family : request.families) all = session.run(family) && all;
  return all ? 0 : 1;
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  try {
    return tessera::perf::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_ops: {}\n", error.what());
    return 1;
  }
}
