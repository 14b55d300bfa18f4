#pragma once

namespace tessera {

/// A place in an operator file. clang 14 lacks std::source_location with libstdc++, hence the builtins.
struct Loc {
  const char* file = "";
  int line = 0;

  static Loc here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

}  // namespace tessera
