#pragma once
#include <regex>
#include <string>
#include <vector>

#include "ops/operator.h"
#include "tests/support/programs.h"
#include "tests/support/same_result.h"
#include "tile_core/ir/verify.h"
#include "tile_core/passes/passes.h"

/// The device programs that are written by hand, the kernels that the passes are measured against: texts at
/// Stage::synced. No operator loads them; here they have to be what operators mean, perf/ measures them.
namespace tessera::test {

struct DeviceProgram {
  const char* name;         ///< of tests/golden/device_programs/<name>.txt
  Program meaning;          ///< the operator's program
  std::vector<Call> calls;  ///< ragged, empty loops too
  double tolerance = 0x1p-7;
};
inline void PrintTo(const DeviceProgram& p, std::ostream* out) {
  *out << p.name;
}

inline std::string device_program_text(const std::string& name) {
  return read_text("golden/device_programs/" + name + ".txt");
}
inline Program device_program(const std::string& name) {
  return parse(device_program_text(name), "hand-made");
}

/// At Stage::ready.
inline Program ready_device_program(const std::string& name) {
  Program ready = plan_shared_memory(device_program(name), {{}, {}, Target::named("sm_90a")});
  ready.stage = Stage::ready;
  verify(ready);
  return ready;
}

inline DeviceProgram linear_device_program(const char* name, int gelu, int n) {
  Facts facts{.tensors = std::vector<TensorFacts>(4, {.dtype = bf16}),
              .flags = {{"bias", 1}, {"gelu", gelu}, {"preactivation", 0}}};
  return {name,
          ops::linear().program(facts, {{"m", 128}, {"n", n}, {"k", 64}}),
          {{{{"M", 150}, {"N", 208}, {"K", 72}}},
           {{{"M", 300}, {"N", 200}, {"K", 328}}},
           {{{"M", 1}, {"N", 8}, {"K", 0}}},
           {{{"M", 128}, {"N", 192}, {"K", 64}}}}};
}

inline Call attention_call(std::int64_t I, std::int64_t J, std::int64_t group, double scale = 0.1) {
  return {{{"B", 1}, {"H", 2}, {"G", 2 / group}, {"I", I}, {"J", J}, {"D", 128}, {"E", 128}},
          {{"scale", scale}, {"diagonal", 0}, {"group", static_cast<double>(group)}}};
}

inline DeviceProgram attention_device_program(const char* name, int causal) {
  Facts facts{.tensors = std::vector<TensorFacts>(4, {.dtype = bf16}),
              .flags = {{"causal", causal}, {"mask", 0}}};
  facts.tensors.push_back({.dtype = f32});
  return {name,
          ops::attention().program(facts, {{"i", 128}, {"j", 128}, {"d", 128}, {"e", 128}}),
          {attention_call(150, 300, 2), attention_call(200, 130, 1), attention_call(1, 0, 1),
           attention_call(64, 640, 2),
           // Scores that move the maximum by hundreds of powers of two.
           attention_call(70, 400, 2, 20)}};
}

inline std::vector<DeviceProgram> device_programs() {
  return {linear_device_program("linear", 0, 192),
          linear_device_program("linear_gelu", 1, 192),
          linear_device_program("linear_128x128", 0, 128),
          linear_device_program("linear_gelu_128x128", 1, 128),
          attention_device_program("attention", 0),
          attention_device_program("attention_causal", 1),
          attention_device_program("attention_optimistic", 0),
          attention_device_program("attention_causal_optimistic", 1)};
}

/// The text as the printer would write it: without comments and empty lines, values numbered as they come.
inline std::string printed(const std::string& text) {
  std::string plain = std::regex_replace(text, std::regex("( *//[^\n]*)"), "");
  plain = std::regex_replace(plain, std::regex("\n\n+"), "\n");
  plain.erase(0, plain.find_first_not_of('\n'));
  std::map<std::string, std::size_t> numbers;
  std::string result;
  std::size_t end = 0;
  const std::regex value("%\\w+");
  for (std::sregex_iterator it(plain.begin(), plain.end(), value), none; it != none; ++it) {
    auto at = static_cast<std::size_t>(it->position());
    result += plain.substr(end, at - end);
    result += "%" + std::to_string(numbers.try_emplace(it->str(), numbers.size()).first->second);
    end = at + static_cast<std::size_t>(it->length());
  }
  return result + plain.substr(end);
}

}  // namespace tessera::test
