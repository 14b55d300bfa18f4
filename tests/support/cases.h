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
  std::vector<Call> calls;  ///< the first has ragged sizes and, where tensors are dense, 16-byte accesses
  double tolerance = 0;     ///< of the largest magnitude, where sums are reordered
};

/// GoogleTest names parameters so.
inline void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

/// The operators' programs over their flags, in small tiles, on ragged sizes.
std::vector<Case> operator_cases();
/// Programs that no operator has: what the language allows, and nobody has tuned the compiler for.
std::vector<Case> foreign_cases();
/// Those of them that add tiles to their outputs.
std::vector<Case> accumulating_cases();
/// Operators' and foreign ones.
std::vector<Case> all_cases();
/// Programs whose dots are wgmma on sm_90a, so that they come to have roles.
std::vector<Case> role_cases();
/// One of any of them; throws InternalError where none has the name.
Case named_case(const std::string& name);

}  // namespace tessera::test
