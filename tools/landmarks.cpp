#include "tools/landmarks.h"

#include <fmt/format.h>
#include <regex>

namespace tessera::tools {
namespace {

/// An opcode, and a modifier that the instruction must have, too.
struct Landmark {
  std::string_view opcode;
  std::string_view modifier;
};

constexpr Landmark kLandmarks[] = {
    {"HGMMA", ""},   {"HMMA", ""},                       // tensor cores: wgmma, mma.sync
    {"FFMA", ""},    {"FADD", ""},      {"MUFU", ""},    // MUFU: exp2, reciprocal
    {"SHFL", ""},                                        // reductions inside a warp
    {"UTMALDG", ""}, {"LDGSTS", "128"}, {"LDGSTS", ""},  // TMA, cp.async
    {"LDG", "128"},  {"LDG", ""},       {"STG", "128"}, {"STG", ""},
    {"LDS", "128"},  {"LDS", ""},       {"STS", ""},    {"BAR", ""},  // __syncthreads
    {"LDL", ""},     {"STL", ""},                                     // spilled registers
};

/// "LDG.E.128.CONSTANT" begins with the opcode "LDG" and has the modifier "128".
bool is(std::string_view instruction, const Landmark& landmark) {
  const std::string_view opcode = instruction.substr(0, instruction.find('.'));
  if (opcode != landmark.opcode) return false;
  return landmark.modifier.empty() ||
         instruction.find(fmt::format(".{}", landmark.modifier)) != instruction.npos;
}

}  // namespace

std::string landmarks(std::string_view sass) {
  // "        /*0090*/                   @!P0 LDG.E.128 R4, ... ;"
  static const std::regex kInstruction(R"(/\*[0-9a-f]+\*/\s+(?:@!?U?P[T0-9]+\s+)?([A-Z][A-Z0-9._]*))");
  int counts[std::size(kLandmarks)] = {};
  for (std::cregex_iterator it(sass.begin(), sass.end(), kInstruction), end; it != end; ++it) {
    const std::string instruction = (*it)[1];
    for (std::size_t i = 0; i < std::size(kLandmarks); ++i) {
      if (!is(instruction, kLandmarks[i])) continue;
      ++counts[i];
      break;  // the more special one stands first
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::size(kLandmarks); ++i) {
    const auto& [opcode, modifier] = kLandmarks[i];
    if (counts[i] == 0) continue;
    text += fmt::format("{}{}{}{} {}", text.empty() ? "" : ", ", opcode, modifier.empty() ? "" : ".",
                        modifier, counts[i]);
  }
  return text;
}

}  // namespace tessera::tools
