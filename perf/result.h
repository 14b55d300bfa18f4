#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "perf/accuracy.h"
#include "perf/statistics.h"

/// What a benchmark says, and its JSON form, from which perf/report.py draws.
namespace tessera::perf {

/// What one call has to do at the least.
struct Work {
  double flops = 0;        ///< 0 where the memory is the limit whatever the kernel does
  double read_bytes = 0;   ///< each input once
  double write_bytes = 0;  ///< each output once

  bool memory_bound() const { return flops == 0; }
  double amount() const { return memory_bound() ? read_bytes + write_bytes : flops; }
  const char* unit() const { return memory_bound() ? "GB/s" : "TFLOP/s"; }
  /// In that unit.
  double rate(double microseconds) const { return amount() / microseconds / (memory_bound() ? 1e3 : 1e6); }
};

/// One way to run a call: microseconds in the two regimes.
struct Candidate {
  std::string name;
  Summary cold;
  Summary steady;
};

struct Row {
  CallSpec spec;
  std::string plan;  ///< what ran, and where its plan came from
  Accuracy accuracy;
  Work work;
  double roof_microseconds = 0;
  Candidate ours;
  std::vector<Candidate> natives;     ///< never empty
  std::vector<std::string> left_out;  ///< native candidates that do not take the call, and why
  bool repeated = false;              ///< lost at first, and was measured again

  const Candidate& best_native(Summary Candidate::*regime) const;
  /// The best native's median over ours.
  double ratio(Summary Candidate::*regime) const;
  /// The ratio that the row is judged by: cold where the memory is the limit, else the lower of both.
  double judged() const;
};

/// Rows that are judged together, by the geometric mean of their ratios.
struct Family {
  std::string name;
  std::vector<Row> rows;

  double mean(Summary Candidate::*regime) const;
  /// Of the memory-bound rows cold, else the lower of both regimes.
  double judged() const;
  const Row& worst() const;
};

/// A device program that is written by hand, beside the kernels that the passes make of the operator's.
struct DeviceRow {
  std::string program;                ///< the text's name
  Row row;                            ///< `ours` is the program by hand
  std::vector<Candidate> generated;   ///< never empty
  std::vector<std::string> rejected;  ///< generated kernels that may not be used, and why

  const Candidate& best_generated(Summary Candidate::*regime) const;
  /// The best generated kernel's median over that of the program by hand.
  double ratio(Summary Candidate::*regime) const;
};

nlohmann::json to_json(const Accuracy& accuracy);
nlohmann::json to_json(const Row& row);
nlohmann::json to_json(const Family& family);
nlohmann::json to_json(const DeviceRow& row);

/// One row as some lines for people.
std::string to_text(const Row& row);
/// One line for each row, then the mean and the worst.
std::string to_text(const Family& family);
std::string to_text(const DeviceRow& row);

/// Writes a result, which names its "device", as NAME.json into a folder; empty: perf/results/<device>.
/// Throws UserError where it cannot.
void write_result(const std::string& folder, const std::string& name, const nlohmann::json& result);

}  // namespace tessera::perf
