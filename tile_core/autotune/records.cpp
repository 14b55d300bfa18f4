#include "tile_core/autotune/records.h"

#include <algorithm>
#include <limits>

#include "tile_core/autotune/key_json.h"
#include "tile_core/base/error.h"
#include "tile_core/base/version.h"

namespace tessera::autotune {
namespace {

constexpr std::uintmax_t kLargestFile = 32 << 20;
constexpr double kLongestCall = 1e9;  // microseconds
constexpr double kFarthest = 2;       // ratio of a dim to that of a record that may still speak for it

nlohmann::json to_json(const Record& record) {
  nlohmann::json variants = nlohmann::json::array();
  for (const Measurement& m : record.variants) {
    nlohmann::json entry = to_json(m.variant);
    entry["us"] = m.microseconds;
    entry["error"] = m.error;
    entry["failure"] = m.failure;
    variants.push_back(std::move(entry));
  }
  return {
      {"key", to_json(record.key)},
      {"library", record.library},
      {"versions",
       {{"torch", record.versions.torch},
        {"driver", record.versions.driver},
        {"nvrtc", record.versions.nvrtc}}},
      {"native",
       {{"name", record.native_name}, {"us", record.native_microseconds}, {"error", record.native_error}}},
      {"variants", std::move(variants)}};
}

/// A record of an older file has none.
Versions versions_from_json(const std::optional<JsonReader>& json) {
  if (!json) return {};
  return {json->member("torch").text(), json->member("driver").text(), json->member("nvrtc").text()};
}

double error_of(const JsonReader& json) {
  return json.member("error").number(0, std::numeric_limits<double>::max());
}

Record record_from_json(const JsonReader& json) {
  Record record;
  record.key = key_from_json(json.member("key"));
  record.library = json.member("library").text();
  record.versions = versions_from_json(json.optional_member("versions"));
  const JsonReader native = json.member("native");
  record.native_name = native.member("name").text();
  record.native_microseconds = native.member("us").number(std::numeric_limits<double>::min(), kLongestCall);
  record.native_error = error_of(native);
  for (const JsonReader& entry : json.member("variants").items()) {
    Measurement m;
    m.variant = variant_from_json(entry);
    m.failure = entry.member("failure").text();
    // A time of 0 is no measurement and must never win.
    m.microseconds =
        entry.member("us").number(m.failure.empty() ? std::numeric_limits<double>::min() : 0, kLongestCall);
    m.error = error_of(entry);
    record.variants.push_back(std::move(m));
  }
  return record;
}

std::string add_document(Records& records, const nlohmann::json& document, const std::string& name) {
  std::string problem, other_version;
  int of_others = 0;
  const JsonReader json(document, name);
  json.member("format").integer(Records::kFormat, Records::kFormat);
  for (const JsonReader& entry : json.member("records").items()) {
    try {
      Record record = record_from_json(entry);
      if (record.library != version() && of_others++ == 0) other_version = record.library;
      records.add(std::move(record));
    } catch (const UserError& error) {
      if (problem.empty()) problem = fmt::format("{}; the record is not used", error.what());
    }
  }
  if (problem.empty() && of_others > 0) {
    problem = fmt::format(
        "{}: {} of its records are of library {}, not of {}, and are not used: tessera bench OP SHAPES "
        "--record {} measures again",
        name, of_others, other_version, version(), name);
  }
  return problem;
}

}  // namespace

std::string Versions::difference(const Versions& here) const {
  std::string text;
  const auto compare = [&](const char* name, const std::string& then, const std::string& now) {
    if (then.empty() || now.empty() || then == now) return;
    text += fmt::format("{}{} {} instead of {}", text.empty() ? "" : ", ", name, then, now);
  };
  compare("torch", torch, here.torch);
  compare("the driver of CUDA", driver, here.driver);
  compare("NVRTC", nvrtc, here.nvrtc);
  return text;
}

std::string Records::add_file(const std::string& path) {
  try {
    return add_document(*this, read_json_file(path, kLargestFile), path);
  } catch (const UserError& error) {
    return fmt::format("{}; the file is not used", error.what());
  }
}

std::string Records::add_text(std::string_view text, const std::string& name) {
  try {
    return add_document(*this, nlohmann::json::parse(text), name);
  } catch (const std::exception& error) {
    return fmt::format("{}: {}; the records are not used", name, error.what());
  }
}

void Records::add(Record record) {
  std::vector<Record>& family_records = by_family_[family(record.key)];
  const auto same = std::ranges::find(family_records, record.key, &Record::key);
  if (same == family_records.end()) {
    family_records.push_back(std::move(record));
  } else {
    *same = std::move(record);
  }
}

void Records::write(const std::string& path) const {
  std::vector<const Record*> sorted;
  for (const auto& [name, records] : by_family_) {
    for (const Record& record : records) sorted.push_back(&record);
  }
  std::ranges::sort(sorted, {}, [](const Record* record) { return to_text(record->key); });
  nlohmann::json list = nlohmann::json::array();
  for (const Record* record : sorted) list.push_back(to_json(*record));
  write_json_file(path, {{"format", kFormat}, {"records", std::move(list)}});
}

const Record* Records::find(const Key& key) const {
  const auto found = by_family_.find(family(key));
  if (found == by_family_.end()) return nullptr;
  const Record* nearest = nullptr;
  double shortest = kFarthest;
  for (const Record& record : found->second) {
    const double far = distance(record.key.dims, key.dims);
    if (record.library != version() || far > shortest || (nearest != nullptr && far == shortest)) continue;
    nearest = &record;
    shortest = far;
  }
  return nearest;
}

std::size_t Records::size() const {
  std::size_t count = 0;
  for (const auto& [name, records] : by_family_) count += records.size();
  return count;
}

}  // namespace tessera::autotune
