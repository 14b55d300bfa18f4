#include "tile_core/target/schedule.h"

#include <array>
#include <charconv>
#include <fmt/ranges.h>
#include <sstream>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

struct Field {
  const char* name;
  int Schedule::*member;
};
constexpr std::array kFields = {Field{"stages", &Schedule::stages}, Field{"warps", &Schedule::warps},
                                Field{"blocks", &Schedule::blocks}, Field{"vector", &Schedule::vector}};

struct Call {
  const Program& program;
  const Facts& facts;
  const Schedule& s;
  const Target& target;
};

/// A rule of the table: the sentence where it is broken, else nothing.
struct Rule {
  const char* name;
  std::string (*broken)(const Call& c);
};

bool is_power_of_two(int n) {
  return n > 0 && (n & (n - 1)) == 0;
}

std::string out_of_range(const char* field, int value, int highest) {
  bool good = value == Schedule::kAutomatic || (value >= 1 && value <= highest);
  return good ? "" : fmt::format("{} is {}, and must be 1 to {} or automatic", field, value, highest);
}

constexpr int kMaxStages = 8;
constexpr int kMaxBlocks = 16;
constexpr int kMaxVector = 16;

const std::array kRules = {
    Rule{"stages", [](const Call& c) { return out_of_range("stages", c.s.stages, kMaxStages); }},
    Rule{"stages need cp.async",
         [](const Call& c) {
           bool broken = c.s.stages > 1 && !c.target.cp_async;
           return broken ? fmt::format("stages is {}, and {} has no asynchronous copies", c.s.stages,
                                       c.target.arch)
                         : "";
         }},
    Rule{"warps",
         [](const Call& c) {
           int highest = c.target.max_threads / kLanes;
           bool good =
               c.s.warps == Schedule::kAutomatic || (is_power_of_two(c.s.warps) && c.s.warps <= highest);
           return good ? ""
                       : fmt::format("warps is {}, and must be a power of two up to {} or automatic",
                                     c.s.warps, highest);
         }},
    Rule{"blocks", [](const Call& c) { return out_of_range("blocks", c.s.blocks, kMaxBlocks); }},
    Rule{"blocks fit the registers",
         [](const Call& c) {
           constexpr int kFewestRegisters = 16;  // a thread cannot do with fewer
           std::int64_t registers = std::int64_t{c.s.warps} * kLanes * kFewestRegisters;  // of one block
           bool broken = c.s.blocks > 0 && registers > c.target.registers_sm / c.s.blocks;
           return broken ? fmt::format(
                               "{} blocks of {} warps leave less than {} registers a thread of {}'s {}",
                               c.s.blocks, c.s.warps, kFewestRegisters, c.target.arch, c.target.registers_sm)
                         : "";
         }},
    Rule{"vector",
         [](const Call& c) {
           bool good = c.s.vector == Schedule::kAutomatic ||
                       (is_power_of_two(c.s.vector) && c.s.vector <= kMaxVector);
           return good ? ""
                       : fmt::format("vector is {} bytes, and must be 1, 2, 4, 8, 16 or automatic",
                                     c.s.vector);
         }},
    Rule{"facts name every tensor",
         [](const Call& c) {
           bool broken = c.facts.tensors.size() != c.program.tensors.size();
           return broken ? fmt::format("the call has {} tensors, and the program declares {}",
                                       c.facts.tensors.size(), c.program.tensors.size())
                         : "";
         }},
    Rule{"dtypes agree",
         [](const Call& c) {
           std::size_t count = std::min(c.facts.tensors.size(), c.program.tensors.size());
           for (std::size_t i = 0; i < count; ++i) {
             const TensorDecl& decl = c.program.tensors[i];
             if (c.facts.tensors[i].dtype != decl.dtype) {
               return fmt::format("tensor '{}' is {} in the call and {} in the program", decl.name,
                                  name_of(c.facts.tensors[i].dtype), name_of(decl.dtype));
             }
           }
           return std::string();
         }},
};

}  // namespace

std::string to_text(const Schedule& schedule) {
  std::vector<std::string> parts;
  for (const Field& field : kFields) {
    if (int value = schedule.*field.member; value != Schedule::kAutomatic)
      parts.push_back(fmt::format("{}={}", field.name, value));
  }
  return parts.empty() ? "automatic" : fmt::format("{}", fmt::join(parts, " "));
}

Schedule schedule_from_text(const std::string& text) {
  Schedule schedule;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "automatic") continue;
    std::size_t equals = word.find('=');
    const Field* found = nullptr;
    for (const Field& field : kFields) {
      if (word.substr(0, equals) == field.name) found = &field;
    }
    int value = 0;
    const char* digits = word.data() + std::min(equals, word.size() - 1) + 1;
    auto [end, error] = std::from_chars(digits, word.data() + word.size(), value);
    if (found == nullptr || equals == std::string::npos || error != std::errc() ||
        end != word.data() + word.size()) {
      throw UserError::format(
          "schedule '{}': expected 'automatic' or fields stages=, warps=, blocks=, vector= with numbers, but "
          "got '{}'",
          text, word);
    }
    schedule.*found->member = value;
  }
  return schedule;
}

std::vector<BrokenRule> illegal(const Program& program, const Facts& facts, const Schedule& schedule,
                                const Target& target) {
  Call call{program, facts, schedule, target};
  std::vector<BrokenRule> broken;
  for (const Rule& rule : kRules) {
    if (std::string sentence = rule.broken(call); !sentence.empty())
      broken.push_back({rule.name, std::move(sentence)});
  }
  return broken;
}

}  // namespace tessera
