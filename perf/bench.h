#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "perf/measure.h"
#include "perf/result.h"
#include "perf/roof.h"
#include "tile_core/autotune/records.h"

namespace tessera::perf {

/// Called with what is being done, before it is.
using Report = std::function<void(const std::string&)>;

/// Throws UserError where this process sees no GPU.
void require_gpu(std::string_view what);

/// A variant of a call, and why it may not be used: it does not compile, or its result is outside of the
/// accuracy contract. Empty where it may.
struct Checked {
  autotune::Variant variant;
  bool legal = true;  ///< for the call's tensors
  std::string failure;
};

/// Measures calls on the current GPU, under the policy in force.
class Bench {
 public:
  /// Throws UserError where this process sees no GPU.
  Bench(const Settings& settings, Report report);

  /// Ours and every native candidate, after the result was checked; a row that loses is measured again, and
  /// that counts. Throws UserError where the result is outside of the accuracy contract.
  Row measure(const CallSpec& spec);

  /// Every variant of the operator's space, launched by itself, against float64.
  std::vector<Checked> check(const CallSpec& spec);

  /// Every variant of the operator's space, launched by itself, and the best native candidate: a record for
  /// dispatch. A variant that does not compile, or is outside of the accuracy contract, says so.
  autotune::Record tune(const CallSpec& spec);

  /// The device program FOLDER/NAME.txt, which is written by hand, beside the operator's kernels of
  /// warpgroups and every native candidate, all checked. Throws UserError where the program's result is
  /// outside of the accuracy contract, or where there is nothing to compare it with.
  DeviceRow measure_by_hand(const CallSpec& spec, const std::string& folder, const std::string& name);

  /// Device, versions, and the roofs measured so far.
  nlohmann::json surroundings() const;

 private:
  /// Microseconds of each arm, of which the natives come first, in one regime: cold where the call is bound
  /// by memory, else that in which ours lead by less; where they lag in neither, in which they lead by more.
  /// Of what is not worthwhile, of a single launch.
  std::vector<double> medians(const CallSpec& spec, const std::vector<Arm>& arms, std::size_t natives);
  /// Both regimes of each arm into the candidate of its place.
  void time(const std::vector<Arm>& arms, const std::vector<Candidate*>& places);
  Row measure_once(const CallSpec& spec, const Accuracy& accuracy);

  Timer timer_;
  Roof roof_;
  Report report_;
};

/// Adds a record to a file of records, which need not exist. Throws UserError, and leaves the file as it is,
/// where a record of it cannot be read.
void add_to_file(const std::string& path, autotune::Record record);

}  // namespace tessera::perf
