#include "tile_core/target/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/ranges.h>
#include <set>
#include <sstream>
#include <string_view>
#include <type_traits>

#include "tile_core/base/error.h"
#include "tile_core/target/schedule_fields.h"

namespace tessera {
namespace {

constexpr std::array kShares = {"automatic", "together", "turns", "alternate"};
constexpr std::array kLags = {"automatic", "none", "one"};
constexpr std::array kGrids = {"automatic", "once", "persistent", "counter"};
constexpr std::array kOrders = {"automatic", "plain", "longest"};

/// A field as "name=value".
struct Field {
  const char* name;
  std::string values;                                      ///< its words, "none|one"; empty: numbers
  std::string (*text)(const Schedule& schedule);           ///< the value; empty where it is automatic
  bool (*set)(Schedule& schedule, std::string_view text);  ///< false where there is no such value
};

template <int Schedule::*kMember>
Field numbers(const char* name) {
  return {name, "",
          [](const Schedule& s) {
            return s.*kMember == Schedule::kAutomatic ? std::string() : fmt::format("{}", s.*kMember);
          },
          [](Schedule& s, std::string_view text) {
            const char* last = text.data() + text.size();
            auto [end, error] = std::from_chars(text.data(), last, s.*kMember);
            return error == std::errc() && end == last;
          }};
}

/// Words of an enumeration, in its order; the first is its default, automatic.
template <auto kMember, const auto& kWords>
Field words(const char* name) {
  return {name, fmt::format("{}", fmt::join(kWords.begin() + 1, kWords.end(), "|")),
          [](const Schedule& s) {
            const auto place = static_cast<std::size_t>(s.*kMember);
            return place == 0 ? std::string() : std::string(kWords.at(place));
          },
          [](Schedule& s, std::string_view text) {
            auto found = std::find(kWords.begin(), kWords.end(), text);
            if (found == kWords.end()) return false;
            s.*kMember = static_cast<std::remove_reference_t<decltype(s.*kMember)>>(found - kWords.begin());
            return true;
          }};
}

const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = {
      numbers<&Schedule::stages>("stages"),      numbers<&Schedule::warps>("warps"),
      numbers<&Schedule::blocks>("blocks"),      numbers<&Schedule::vector>("vector"),
      numbers<&Schedule::groups>("groups"),      numbers<&Schedule::raster>("raster"),
      numbers<&Schedule::cluster>("cluster"),    words<&Schedule::share, kShares>("share"),
      words<&Schedule::lag, kLags>("lag"),       words<&Schedule::grid, kGrids>("grid"),
      words<&Schedule::order, kOrders>("order"),
  };
  return kFields;
}

/// "stages=, warps= with numbers, share=together|turns"
std::string known_fields() {
  std::vector<std::string> with_numbers, all;
  for (const Field& field : fields()) {
    if (field.values.empty()) with_numbers.push_back(fmt::format("{}=", field.name));
  }
  all.push_back(fmt::format("{} with numbers", fmt::join(with_numbers, ", ")));
  for (const Field& field : fields()) {
    if (!field.values.empty()) all.push_back(fmt::format("{}={}", field.name, field.values));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

struct Call {
  const Program& program;
  const Facts& facts;
  const Schedule& s;
  const Target& target;
};

/// A rule of a table: the sentence where it is broken, else nothing.
template <typename Subject>
struct Rule {
  const char* name;
  std::string (*broken)(const Subject& c);
};

template <typename Subject, std::size_t N>
void add_broken(const std::array<Rule<Subject>, N>& rules, const Subject& subject,
                std::vector<BrokenRule>& broken) {
  for (const Rule<Subject>& rule : rules) {
    if (std::string sentence = rule.broken(subject); !sentence.empty())
      broken.push_back({rule.name, std::move(sentence)});
  }
}

bool is_power_of_two(int n) {
  return n > 0 && (n & (n - 1)) == 0;
}

std::string out_of_range(const char* field, int value, int highest) {
  bool good = value == Schedule::kAutomatic || (value >= 1 && value <= highest);
  return good ? "" : fmt::format("{} is {}, and must be 1 to {} or automatic", field, value, highest);
}

constexpr int kMaxStages = 8;
constexpr int kMaxWarps = 32;  // of a block of 1024 threads, on every architecture
constexpr int kMaxBlocks = 16;
constexpr int kMaxVector = 16;
constexpr int kMaxGroups = 4;
constexpr int kMaxRaster = 64;
constexpr int kMaxCluster = 2;  // hardware takes 8, but more than 2 leave multiprocessors of a GPC idle

/// Of a block, as far as the schedule says: 0 where it does not. Consumer warpgroups come with a producer's.
int warps_of(const Schedule& s) {
  constexpr int kGroupWarps = 4;
  const int groups = s.share == Share::alternate ? 2 : std::clamp(s.groups, 0, kMaxGroups);
  return groups > 0 ? kGroupWarps * (groups + 1) : s.warps;
}

/// Of the fields alone.
const std::array kFieldRules = {
    Rule<Schedule>{"stages", [](const Schedule& s) { return out_of_range("stages", s.stages, kMaxStages); }},
    Rule<Schedule>{"warps",
                   [](const Schedule& s) {
                     bool good = s.warps == Schedule::kAutomatic ||
                                 (is_power_of_two(s.warps) && s.warps <= kMaxWarps);
                     return good
                                ? ""
                                : fmt::format("warps is {}, and must be a power of two up to {} or automatic",
                                              s.warps, kMaxWarps);
                   }},
    Rule<Schedule>{"blocks", [](const Schedule& s) { return out_of_range("blocks", s.blocks, kMaxBlocks); }},
    Rule<Schedule>{"vector",
                   [](const Schedule& s) {
                     bool good = s.vector == Schedule::kAutomatic ||
                                 (is_power_of_two(s.vector) && s.vector <= kMaxVector);
                     return good ? ""
                                 : fmt::format("vector is {} bytes, and must be 1, 2, 4, 8, 16 or automatic",
                                               s.vector);
                   }},
    Rule<Schedule>{"groups", [](const Schedule& s) { return out_of_range("groups", s.groups, kMaxGroups); }},
    Rule<Schedule>{"raster", [](const Schedule& s) { return out_of_range("raster", s.raster, kMaxRaster); }},
    Rule<Schedule>{"cluster",
                   [](const Schedule& s) { return out_of_range("cluster", s.cluster, kMaxCluster); }},
    Rule<Schedule>{"alternate groups are persistent",
                   [](const Schedule& s) {
                     bool two = s.groups == Schedule::kAutomatic || s.groups == 2;
                     bool broken = s.share == Share::alternate && (s.grid == Grid::once || !two);
                     return std::string(
                         broken ? "share is alternate, which needs two groups and a persistent grid" : "");
                   }},
    Rule<Schedule>{"blocks that draw tiles are alone",
                   [](const Schedule& s) {
                     bool broken = s.cluster > 1 && s.grid == Grid::counter;
                     return broken ? fmt::format(
                                         "cluster is {}, and grid=counter has each block draw a tile "
                                         "of its own",
                                         s.cluster)
                                   : "";
                   }},
    Rule<Schedule>{"turns are taken around lagging dots",
                   [](const Schedule& s) {
                     if (s.share != Share::turns || (s.lag != Lag::none && s.groups != 1))
                       return std::string();
                     return std::string(s.groups == 1
                                            ? "share is turns, and one group has none to take turns with"
                                            : "share is turns, and lag is none: no dot trails another");
                   }},
    Rule<Schedule>{"longest tiles first is an order of a persistent grid",
                   [](const Schedule& s) {
                     bool broken = s.order == TileOrder::longest && s.grid == Grid::once;
                     return std::string(
                         broken ? "order is longest, and grid=once leaves the order to the device" : "");
                   }},
    Rule<Schedule>{"one order of tiles",
                   [](const Schedule& s) {
                     bool broken = s.order == TileOrder::longest && s.raster != Schedule::kAutomatic;
                     return broken ? fmt::format("order is longest, and raster is {}: each orders the tiles",
                                                 s.raster)
                                   : "";
                   }},
};

/// Of the fields for a program on a target.
const std::array kCallRules = {
    Rule<Call>{"stages need cp.async",
               [](const Call& c) {
                 bool broken = c.s.stages > 1 && !c.target.cp_async;
                 return broken ? fmt::format("stages is {}, and {} has no asynchronous copies", c.s.stages,
                                             c.target.arch)
                               : "";
               }},
    Rule<Call>{"warps fit a block",
               [](const Call& c) {
                 bool broken = c.s.warps > c.target.max_threads / kLanes;
                 return broken ? fmt::format("warps is {}, and a block of {} has {} threads at the most",
                                             c.s.warps, c.target.arch, c.target.max_threads)
                               : "";
               }},
    Rule<Call>{"blocks fit the registers",
               [](const Call& c) {
                 constexpr int kFewestRegisters = 16;  // a thread cannot do with fewer
                 const int warps = warps_of(c.s);
                 std::int64_t registers = std::int64_t{warps} * kLanes * kFewestRegisters;  // of one block
                 bool broken = c.s.blocks > 0 && registers > c.target.registers_sm / c.s.blocks;
                 return broken
                            ? fmt::format(
                                  "{} blocks of {} warps leave less than {} registers a thread of {}'s {}",
                                  c.s.blocks, warps, kFewestRegisters, c.target.arch, c.target.registers_sm)
                            : "";
               }},
    Rule<Call>{"facts name every tensor",
               [](const Call& c) {
                 bool broken = c.facts.tensors.size() != c.program.tensors.size();
                 return broken ? fmt::format("the call has {} tensors, and the program declares {}",
                                             c.facts.tensors.size(), c.program.tensors.size())
                               : "";
               }},
    Rule<Call>{"dtypes agree",
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
  for (const Field& field : fields()) {
    if (const std::string text = field.text(schedule); !text.empty())
      parts.push_back(fmt::format("{}={}", field.name, text));
  }
  return parts.empty() ? "automatic" : fmt::format("{}", fmt::join(parts, " "));
}

namespace {

/// Sets one field from "name=value"; false where there is no such field or value.
bool set_field(Schedule& schedule, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
  return std::any_of(fields().begin(), fields().end(),
                     [&](const Field& field) { return name == field.name && field.set(schedule, value); });
}

}  // namespace

Schedule schedule_from_text(const std::string& text) {
  Schedule schedule;
  std::istringstream words(text);
  std::set<std::string> given;
  for (std::string word; words >> word;) {
    const std::string field = word.substr(0, word.find('='));
    if (!given.insert(field).second) throw UserError::format("schedule '{}': {} is given twice", text, field);
    if (word == "automatic" || set_field(schedule, word)) continue;
    throw UserError::format("schedule '{}': expected 'automatic' or fields {}, but got '{}'", text,
                            known_fields(), word);
  }
  return schedule;
}

std::vector<BrokenRule> broken_fields(const Schedule& schedule) {
  std::vector<BrokenRule> broken;
  add_broken(kFieldRules, schedule, broken);
  return broken;
}

std::vector<BrokenRule> illegal(const Program& program, const Facts& facts, const Schedule& schedule,
                                const Target& target) {
  Call call{program, facts, schedule, target};
  std::vector<BrokenRule> broken = broken_fields(schedule);
  add_broken(kCallRules, call, broken);
  return broken;
}

UserError illegal_schedule(const Program& program, const Schedule& schedule, const Target& target,
                           const std::vector<BrokenRule>& broken) {
  std::string sentences;
  for (const BrokenRule& one : broken) sentences += fmt::format("\n   {}: {}", one.rule, one.sentence);
  return UserError::format("tile error: schedule '{}' is illegal for '{}' on {}{}", to_text(schedule),
                           program.name, target.arch, sentences);
}

}  // namespace tessera
