#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/choices.h"

namespace tessera::fuzz {

/// What a case breaks.
struct Failure {
  std::string kind;     ///< which property, and where: what a shrunk case must break, too
  std::string details;  ///< the values
  std::string text;     ///< the case, to read and to write a test from
};

/// How often what was reached or done.
using Counts = std::map<std::string, int>;

/// Makes the case of these choices and checks it.
using Check = std::function<std::optional<Failure>(Choices& choices, Counts& counts)>;

struct Shrunk {
  std::vector<int> choices;
  Failure failure;
  int runs = 0;
};

/// The simplest case found that fails in the same way: fewer choices, then smaller ones. Stops when nothing
/// simpler fails, or when the time is over.
Shrunk shrink(std::vector<int> choices, Failure failure, const Check& check, std::chrono::seconds time);

}  // namespace tessera::fuzz
