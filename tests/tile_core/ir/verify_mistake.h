#pragma once
#include "tests/support/programs.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/verify.h"

namespace tessera::test {

/// One replacement in the text of a hand-made program, and what verify() says of the result, up to the stage.
struct Mistake {
  const char* program;
  const char* from;
  const char* to;
  const char* error;
};
inline void PrintTo(const Mistake& m, std::ostream* out) {
  *out << m.program << ": " << m.from << " -> " << m.to;
}

inline std::string error_of(const Program& p) {
  try {
    verify(p);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "right";
}

inline std::string error_of(const Mistake& mistake) {
  std::string error = error_of(changed(mistake.program, mistake.from, mistake.to));
  std::string prefix = "internal tessera error: verify ";
  if (error.starts_with(prefix)) error = error.substr(prefix.size());
  return error.substr(0, error.find(" (Stage::"));
}

}  // namespace tessera::test
