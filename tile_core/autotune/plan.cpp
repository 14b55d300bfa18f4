#include "tile_core/autotune/plan.h"

#include <algorithm>
#include <fmt/format.h>

#include "tile_core/autotune/cost_model.h"

namespace tessera::autotune {
namespace {

/// One choice in the making: asks the sources in turn.
class Choice {
 public:
  Choice(const Key& key, const std::vector<Variant>& space, const Legality& illegal, Policy policy)
      : key_(key), space_(space), illegal_(illegal), policy_(policy) {}

  Plan by_policy() {
    plan_.source = Source::policy;
    plan_.reason = "the policy is native";
    plan_.candidates = {{"native", {}, "chosen"}};
    return std::move(plan_);
  }

  /// False: the frozen plans say nothing that may be used.
  bool by_frozen(const FrozenPlans& frozen) {
    const std::optional<Variant>* found = frozen.find(key_);
    if (found == nullptr) return false;
    const std::string name = *found ? to_text(**found) : "native";
    const std::string problem = *found                    ? illegal_(**found)
                                : policy_ == Policy::tile ? "frozen, but the policy is tile"
                                                          : "";
    if (!problem.empty()) {
      reject(name, {}, problem);
      plan_.warnings.push_back(fmt::format("the frozen plan {} is not followed: {}; the call is {}", name,
                                           problem, to_text(key_)));
      return false;
    }
    accept(*found, name, {}, Source::frozen, "frozen for this shape");
    return true;
  }

  /// The user's records, which the user can measure again.
  bool by_user_records(const Records& records, const Versions& here) {
    if (!by_records(records, Source::user_records)) return false;
    const std::string difference = records.find(key_)->versions.difference(here);
    if (difference.empty()) return true;
    plan_.warnings.push_back(
        fmt::format("records were measured with {}, where other kernels may be the fastest; `tessera bench "
                    "--record` measures again",
                    difference));
    return true;
  }

  bool by_records(const Records& records, Source source) {
    const Record* record = records.find(key_);
    if (record == nullptr) return false;
    const bool exact = record->key.dims == key_.dims;
    const std::string shape =
        exact ? "for this shape" : "for the nearest measured shape, " + to_text(record->key);
    std::vector<const Measurement*> fastest_first;
    for (const Measurement& m : record->variants) fastest_first.push_back(&m);
    std::ranges::stable_sort(fastest_first, {}, [](const Measurement* m) { return m->microseconds; });
    const Measurement* best = nullptr;
    for (const Measurement* m : fastest_first) {
      const std::string problem = !m->failure.empty() ? m->failure
                                  : best != nullptr   ? "slower"
                                                      : illegal_(m->variant);
      if (problem.empty()) {
        best = m;
      } else {
        reject(to_text(m->variant), measured(*m), problem);
      }
    }
    const std::string native =
        record->native_name.empty() ? "native" : fmt::format("native ({})", record->native_name);
    const bool tile_wins =
        best != nullptr && (policy_ == Policy::tile || best->microseconds < record->native_microseconds);
    if (tile_wins) {
      reject(native, record->native_microseconds,
             best->microseconds < record->native_microseconds ? "slower" : "the policy is tile");
      accept(best->variant, to_text(best->variant), best->microseconds, source, "measured fastest " + shape);
      return true;
    }
    if (policy_ == Policy::tile)
      return false;  // nothing measured is legal: the cost model may know a variant that is
    if (best != nullptr) reject(to_text(best->variant), best->microseconds, "slower");
    accept(
        {}, native, record->native_microseconds, source,
        best != nullptr ? "measured fastest " + shape : "none of the kernels measured " + shape + " can run");
    return true;
  }

  void by_cost_model() {
    const Assumption assumed = assumption(policy_);
    const std::string reason(assumed.reason);
    if (assumed.native) accept({}, "native", {}, Source::cost_model, reason);
    for (const Variant& variant : space_) {
      const std::string problem = accepted_ ? std::string(assumed.verdict) : illegal_(variant);
      if (problem.empty()) {
        accept(variant, to_text(variant), {}, Source::cost_model, reason);
      } else {
        reject(to_text(variant), {}, problem);
        if (!accepted_)
          plan_.unsupported += (plan_.unsupported.empty() ? "" : "; ") + to_text(variant) + ": " + problem;
      }
    }
    if (accepted_) plan_.unsupported.clear();
  }

  Plan take() { return std::move(plan_); }

 private:
  static std::optional<double> measured(const Measurement& m) {
    return m.microseconds > 0 ? std::optional(m.microseconds) : std::nullopt;
  }

  void reject(std::string name, std::optional<double> microseconds, std::string why) {
    plan_.candidates.push_back({std::move(name), microseconds, std::move(why)});
  }

  void accept(const std::optional<Variant>& variant, std::string name, std::optional<double> microseconds,
              Source source, std::string reason) {
    plan_.tile = variant;
    plan_.source = source;
    plan_.reason = std::move(reason);
    plan_.candidates.insert(plan_.candidates.begin(), {std::move(name), microseconds, "chosen"});
    accepted_ = true;
  }

  const Key& key_;
  const std::vector<Variant>& space_;
  const Legality& illegal_;
  Policy policy_;
  Plan plan_;
  bool accepted_ = false;
};

}  // namespace

const char* name_of(Source source) {
  switch (source) {
    case Source::policy:
      return "the policy";
    case Source::frozen:
      return "the frozen plans";
    case Source::user_records:
      return "the user's records";
    case Source::shipped_records:
      return "the shipped records";
    case Source::cost_model:
      return "the cost model";
  }
  return "";
}

Plan choose(const Key& key, const std::vector<Variant>& space, const Legality& illegal, Policy policy,
            const Knowledge& knowledge) {
  Choice choice(key, space, illegal, policy);
  if (policy == Policy::native) return choice.by_policy();
  const bool known =
      (knowledge.frozen != nullptr && choice.by_frozen(*knowledge.frozen)) ||
      (knowledge.user != nullptr && choice.by_user_records(*knowledge.user, knowledge.here)) ||
      (knowledge.shipped != nullptr && choice.by_records(*knowledge.shipped, Source::shipped_records));
  if (!known) choice.by_cost_model();
  return choice.take();
}

std::string describe(const Key& key, const Plan& plan) {
  std::string text =
      fmt::format("{}\n  plan: {}, from {}: {}\n", to_text(key), plan.tile ? to_text(*plan.tile) : "native",
                  name_of(plan.source), plan.reason);
  for (const Candidate& c : plan.candidates) {
    const std::string time = c.microseconds ? fmt::format("{:.2f} us", *c.microseconds) : "not measured";
    text += fmt::format("  {:<44} {:>14}  {}\n", c.name, time, c.verdict);
  }
  return text;
}

}  // namespace tessera::autotune
