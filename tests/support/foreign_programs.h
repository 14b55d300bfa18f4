#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/same_result.h"

namespace tessera::test {

/// A program with the calls that it is tested on.
struct Case {
  std::string name;
  Program program;
  std::vector<Call> calls;
  double tolerance = 0;  ///< of the largest magnitude, where sums are reordered
};

/// GoogleTest names parameters so.
inline void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

/// Programs that no operator has: what the language allows, and nobody has tuned the compiler for.
std::vector<Case> foreign_cases();

}  // namespace tessera::test
