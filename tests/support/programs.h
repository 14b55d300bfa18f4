#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/support/golden.h"
#include "tile_core/ir/parse.h"

namespace tessera::test {

/// The hand-made programs of tests/golden/programs, by name.
inline constexpr std::string_view kPrograms[] = {
    "gemm_tile",   "gemm_mapped",  "gemm_masked",   "gemm_placed",    "gemm_laid_out",   "gemm_device",
    "gemm_synced", "gemm_ready",   "gemm_roled",    "gemm_roles",     "gemm_cluster",    "gemm_counter",
    "chain_roles", "softmax_tile", "softmax_ready", "attention_tile", "attention_synced"};

inline std::string program_text(std::string_view name) {
  return read_text("golden/programs/" + std::string(name) + ".txt");
}
inline Program program(std::string_view name) {
  return parse(program_text(name), "hand-made");
}

/// The program with one piece of its text replaced, at its first place.
inline Program changed(std::string_view name, const std::string& from, const std::string& to) {
  std::string text = program_text(name);
  std::size_t place = text.find(from);
  if (place == std::string::npos) throw std::invalid_argument("no such text: " + from);
  return parse(text.replace(place, from.size(), to), "hand-made");
}

}  // namespace tessera::test
