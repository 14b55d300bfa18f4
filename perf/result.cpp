#include "perf/result.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "tile_core/base/error.h"

namespace tessera::perf {
namespace {

using Regime = Summary Candidate::*;
constexpr std::pair<const char*, Regime> kRegimes[] = {{"cold", &Candidate::cold},
                                                       {"steady", &Candidate::steady}};

nlohmann::json to_json(const Summary& time, const Work& work, double roof) {
  return {{"median_us", time.median},
          {"quartiles_us", {time.lower, time.upper}},
          {"samples", time.count},
          {"rate", work.rate(time.median)},
          {"roof_percent", 100 * roof / time.median}};
}

nlohmann::json to_json(const Candidate& candidate, const Row& row) {
  nlohmann::json json = {{"name", candidate.name}};
  for (const auto& [name, regime] : kRegimes)
    json[name] = to_json(candidate.*regime, row.work, row.roof_microseconds);
  return json;
}

const Candidate& best(const std::vector<Candidate>& candidates, Regime regime) {
  return *std::ranges::min_element(candidates, {}, [&](const Candidate& c) { return (c.*regime).median; });
}

nlohmann::json to_json(const Error& error) {
  return {{"max", error.maximum}, {"rms", error.rms}};
}

}  // namespace

const Candidate& Row::best_native(Regime regime) const {
  return best(natives, regime);
}

double Row::ratio(Regime regime) const {
  return (best_native(regime).*regime).median / (ours.*regime).median;
}

const Candidate& DeviceRow::best_generated(Regime regime) const {
  return best(generated, regime);
}

double DeviceRow::ratio(Regime regime) const {
  return (best_generated(regime).*regime).median / (row.ours.*regime).median;
}

double Row::judged() const {
  const double cold = ratio(&Candidate::cold);
  return work.memory_bound() ? cold : std::min(cold, ratio(&Candidate::steady));
}

double Family::mean(Regime regime) const {
  std::vector<double> ratios;
  for (const Row& row : rows) ratios.push_back(row.ratio(regime));
  return geometric_mean(ratios);
}

double Family::judged() const {
  const double cold = mean(&Candidate::cold);
  return rows.front().work.memory_bound() ? cold : std::min(cold, mean(&Candidate::steady));
}

const Row& Family::worst() const {
  return *std::ranges::min_element(rows, {}, &Row::judged);
}

nlohmann::json to_json(const Accuracy& accuracy) {
  return {{"ours", to_json(accuracy.ours)},
          {"native", to_json(accuracy.native)},
          {"magnitude", accuracy.ours.magnitude},
          {"allowed", {{"max", accuracy.allowed_maximum()}, {"rms", accuracy.allowed_rms()}}},
          {"holds", accuracy.holds()}};
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json json = {{"call", tessera::to_text(row.spec)},
                         {"plan", row.plan},
                         {"unit", row.work.unit()},
                         {"accuracy", to_json(row.accuracy)},
                         {"roof_us", row.roof_microseconds},
                         {"ours", to_json(row.ours, row)},
                         {"natives", nlohmann::json::array()},
                         {"left_out", row.left_out},
                         {"repeated", row.repeated}};
  for (const Candidate& native : row.natives) json["natives"].push_back(to_json(native, row));
  for (const auto& [name, regime] : kRegimes) {
    json["best_native"][name] = row.best_native(regime).name;
    json["ratio"][name] = row.ratio(regime);
  }
  return json;
}

nlohmann::json to_json(const Family& family) {
  nlohmann::json json = {{"family", family.name}, {"rows", nlohmann::json::array()}};
  for (const Row& row : family.rows) json["rows"].push_back(to_json(row));
  for (const auto& [name, regime] : kRegimes) json["geometric_mean"][name] = family.mean(regime);
  json["judged_ratio"] = family.judged();
  json["worst"] = {{"call", tessera::to_text(family.worst().spec)}, {"ratio", family.worst().judged()}};
  return json;
}

nlohmann::json to_json(const DeviceRow& row) {
  nlohmann::json json = to_json(row.row);
  json["program"] = row.program;
  json["generated"] = nlohmann::json::array();
  for (const Candidate& kernel : row.generated) json["generated"].push_back(to_json(kernel, row.row));
  json["rejected"] = row.rejected;
  for (const auto& [name, regime] : kRegimes) {
    json["best_generated"][name] = row.best_generated(regime).name;
    json["generated_ratio"][name] = row.ratio(regime);
  }
  return json;
}

std::string to_text(const Row& row) {
  std::string text = fmt::format("{}\n  plan: {}\n  {}: {}\n", tessera::to_text(row.spec), row.plan,
                                 row.accuracy.holds() ? "checked" : "WRONG", row.accuracy.text());
  text += fmt::format("  {:<30}{:>28}{:>28}\n", "", "cold", "steady");
  const auto line = [&](const Candidate& c) {
    text += fmt::format("  {:<30}", c.name);
    for (const auto& [name, regime] : kRegimes) {
      const Summary& time = c.*regime;
      text += fmt::format("{:>10.2f} us ±{:<5.2f}{:>7.0f} {:<}", time.median, (time.upper - time.lower) / 2,
                          row.work.rate(time.median), row.work.memory_bound() ? "GB/s" : "TF/s");
    }
    text += "\n";
  };
  line(row.ours);
  for (const Candidate& native : row.natives) line(native);
  for (const std::string& reason : row.left_out) text += "  left out: " + reason + "\n";
  for (const auto& [name, regime] : kRegimes) {
    text += fmt::format("  {}: {:.3f} of {}, {:.1f} % of the roof{}\n", name, row.ratio(regime),
                        row.best_native(regime).name, 100 * row.roof_microseconds / (row.ours.*regime).median,
                        row.repeated ? " (measured twice)" : "");
  }
  return text;
}

std::string to_text(const Family& family) {
  std::string text = fmt::format("{:<58}{:>10}{:>8}{:>9}{:>9}  {}\n", family.name, "ours", "% roof", "cold x",
                                 "steady x", "best native");
  for (const Row& row : family.rows) {
    const double time = row.ours.cold.median;
    text += fmt::format("{:<58}{:>10.0f}{:>8.1f}{:>9.3f}{:>9.3f}  {}\n", tessera::to_text(row.spec),
                        row.work.rate(time), 100 * row.roof_microseconds / time, row.ratio(&Candidate::cold),
                        row.ratio(&Candidate::steady), row.best_native(&Candidate::cold).name);
  }
  return text + fmt::format("mean x {:.3f} (judged), worst {:.3f}: {}\n", family.judged(),
                            family.worst().judged(), tessera::to_text(family.worst().spec));
}

std::string to_text(const DeviceRow& row) {
  std::string text = to_text(row.row);
  for (const auto& [name, regime] : kRegimes) {
    text += fmt::format("  {}: {:.3f} of the generated {}, {:.2f} us\n", name, row.ratio(regime),
                        row.best_generated(regime).name, (row.best_generated(regime).*regime).median);
  }
  for (const std::string& reason : row.rejected) text += "  rejected: " + reason + "\n";
  return text;
}

void write_result(const std::string& folder, const std::string& name, const nlohmann::json& result) {
  std::string device = result.at("device");
  std::ranges::replace(device, ' ', '_');
  const std::filesystem::path path =
      folder.empty() ? std::filesystem::path("perf/results") / device : std::filesystem::path(folder);
  std::error_code ignored;  // the file says so too
  std::filesystem::create_directories(path, ignored);
  std::ofstream file(path / (name + ".json"));
  file << result.dump(1) << '\n';
  if (!file.flush())
    throw UserError::format("cannot write into {}; --out names another folder", path.string());
}

}  // namespace tessera::perf
