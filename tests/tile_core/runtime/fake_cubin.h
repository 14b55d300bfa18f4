#pragma once
#include <string>

#include "tile_core/base/sha256.h"
#include "tile_core/runtime/cubin.h"

namespace tessera::test {

/// A cubin whose image is an ELF magic and `bytes` more: enough for all that never runs it.
inline Cubin fake_cubin(const std::string& name, std::size_t bytes = 100) {
  return {.key = sha256(name),
          .kernel = name,
          .arch = "sm_90a",
          .nvrtc = "13.0",
          .image =
              "\x7f"
              "ELF" +
              std::string(bytes, 'x'),
          .log = "ptxas info    : Used 24 registers",
          .registers = 24,
          .stack_bytes = 8,
          .spill_bytes = 16,
          .compile_ms = 1.5};
}

}  // namespace tessera::test
