#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "perf/progress.h"

namespace tessera::perf {

/// The calls of a result file that could not be measured, and why.
class Failures {
 public:
  /// Runs `measure`; where it throws, says so and adds the call.
  void attempt(const std::string& call, Progress& progress, const std::function<void()>& measure);

  bool none() const { return list_.empty(); }
  const nlohmann::json& list() const { return list_; }

 private:
  nlohmann::json list_ = nlohmann::json::array();
};

}  // namespace tessera::perf
