#pragma once
#include <gtest/gtest.h>
#include <regex>

#include "tile_core/base/error.h"
#include "tile_core/dsl/math.h"
#include "tile_core/dsl/online_softmax.h"

namespace tessera::dsl::test {

/// A program being written.
struct Text {
  Builder p{"text"};
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K}), bias = p.in("bias", f32, {N});
  In chosen = p.in("chosen", boolean, {M}), rows = p.in("rows", i32, {M});
  Out out = p.out("out", bf16, {M, N}), sums = p.out("sums", f32, {M});
  Axis m = p.grid(M, 16), n = p.grid(N, 8), k = p.all(K, 32);
};

/// What a misuse throws; the place as HERE where it is in a test of errors.
inline std::string error_of(void (*misuse)(Text&)) {
  try {
    Text text;
    misuse(text);
  } catch (const UserError& error) {
    return std::regex_replace(error.what(), std::regex(R"([^ ]*(errors_test.cpp|misuse.h):\d+)"), "HERE");
  }
  return "no error";
}

struct Misuse {
  const char* name;
  void (*write)(Text& t);
  const char* error;
};
inline void PrintTo(const Misuse& m, std::ostream* out) {
  *out << m.name;
}

inline std::string name_of_case(const ::testing::TestParamInfo<Misuse>& info) {
  return info.param.name;
}

}  // namespace tessera::dsl::test
