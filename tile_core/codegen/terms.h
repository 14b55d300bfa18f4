#pragma once
#include <string>

namespace tessera::codegen {

/// To a sum; 0 adds nothing.
inline void add_term(std::string& sum, const std::string& term) {
  if (term != "0") sum += sum.empty() ? term : " + " + term;
}

inline void add_condition(std::string& all, const std::string& condition) {
  all += all.empty() ? condition : " && " + condition;
}

}  // namespace tessera::codegen
