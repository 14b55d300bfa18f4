#include "tests/fuzz/campaign.h"

#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/fuzz/crash.h"

namespace tessera::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kShown = 3;  // failures of one kind: more are likely the same fault

std::string command(const Campaign& campaign, const std::string& words) {
  return fmt::format("tessera_fuzz --{} {}{}{}", campaign.name, words, campaign.settings.empty() ? "" : " ",
                     campaign.settings);
}

void print(const Campaign& campaign, const Failure& failure, const std::vector<int>& choices) {
  fmt::print(
      "{}\n{}\n   again: {}\n", failure.details, failure.text,
      command(campaign, fmt::format("1 --replay {}",
                                    choices.empty() ? "0" : fmt::format("{}", fmt::join(choices, ",")))));
  std::fflush(stdout);
}

/// A line a minute.
class Progress {
 public:
  void say(const Campaign& campaign, int cases, int failed) {
    if (Clock::now() - last_ < std::chrono::minutes(1)) return;
    last_ = Clock::now();
    fmt::print("{}: {} cases, {} failed\n", campaign.name, cases, failed);
    std::fflush(stdout);
  }

 private:
  Clock::time_point last_ = Clock::now();
};

void summarize(const Campaign& campaign, const Limits& limits, int cases, double seconds,
               const Counts& counts, const Counts& failures) {
  fmt::print("{}: {} cases from seed {} in {:.0f} s", campaign.name, cases, limits.seed, seconds);
  for (const auto& [what, count] : counts) fmt::print("; {} {}", count, what);
  fmt::print("\n");
  for (const auto& [kind, count] : failures) fmt::print("FAILED {} times: {}\n", count, kind);
  if (failures.empty()) fmt::print("{}: nothing found\n", campaign.name);
}

}  // namespace

int run(const Campaign& campaign, const Limits& limits) {
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  Counts counts, failures;
  Progress progress;
  int cases = 0, failed = 0;
  for (; cases < limits.cases && (limits.seconds == 0 || seconds() < limits.seconds); ++cases) {
    const std::uint64_t seed = limits.seed + static_cast<std::uint64_t>(cases);
    name_case_to_signals(command(campaign, fmt::format("1 --seed {}", seed)));
    progress.say(campaign, cases, failed);
    Choices choices(seed);
    std::optional<Failure> failure = campaign.check(choices, counts);
    if (!failure) continue;
    ++failed;
    const std::string kind = failure->kind;
    if (++failures[kind] > kShown) continue;
    fmt::print("FAILED: {} with seed {}: {}\n", kind, seed,
               command(campaign, fmt::format("1 --seed {}", seed)));
    const Shrunk shrunk = shrink(choices.made(), std::move(*failure), campaign.check,
                                 std::chrono::seconds(limits.shrink_seconds));
    fmt::print("shrunk from {} to {} choices in {} runs\n", choices.made().size(), shrunk.choices.size(),
               shrunk.runs);
    print(campaign, shrunk.failure, shrunk.choices);
  }
  summarize(campaign, limits, cases, seconds(), counts, failures);
  return failed;
}

int replay(const Campaign& campaign, const std::vector<int>& list) {
  Choices choices(list);
  Counts counts;
  const std::optional<Failure> failure = campaign.check(choices, counts);
  if (failure) {
    fmt::print("FAILED: {}\n", failure->kind);
    print(campaign, *failure, list);
  }
  summarize(campaign, {.cases = 1, .seed = 0}, 1, 0, counts, failure ? Counts{{failure->kind, 1}} : Counts{});
  return failure ? 1 : 0;
}

}  // namespace tessera::fuzz
