#pragma once
#include <fmt/format.h>
#include <string>

#include "tile_core/codegen/kernel_text.h"

namespace tessera::test {

/// A small kernel, another one for each number.
inline KernelText small_kernel(int number) {
  return {
      .name = fmt::format("small_{}", number),
      .text = fmt::format(
          "extern \"C\" __global__ void small_{0}(float* out) {{ out[threadIdx.x] = {0}.5f; }}\n", number),
      .threads = 32};
}

/// A kernel that NVRTC works on for about a second.
inline KernelText slow_kernel(int number) {
  std::string text = fmt::format(
      "extern \"C\" __global__ void slow_{}(float* a) {{\n  float x[64];\n  for (int i = 0; i < 64; ++i) "
      "x[i] = a[i];\n",
      number);
  for (int round = 0; round < 4; ++round) {
    text += fmt::format(
        "  for (int i = 0; i < 64; ++i) x[i] = x[(i + {}) % 64] * x[(i * 7 + 1) % 64] + sinf(x[i]);\n",
        round);
  }
  text += "  for (int i = 0; i < 64; ++i) a[i] = x[i];\n}\n";
  return {.name = fmt::format("slow_{}", number), .text = text, .threads = 32};
}

/// A kernel that NVRTC rejects, with an error at operator.cpp:41.
inline KernelText broken_kernel(int number) {
  return {
      .name = fmt::format("broken_{}", number),
      .text = fmt::format(
          "// a long text that no message should repeat\n#line 41 \"operator.cpp\"\nextern \"C\" __global__ "
          "void broken_{}(float* out) {{ out[0] = undeclared; }}\n",
          number),
      .threads = 32};
}

}  // namespace tessera::test
