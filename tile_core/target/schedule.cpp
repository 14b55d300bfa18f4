#include "tile_core/target/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/ranges.h>
#include <optional>
#include <sstream>
#include <string_view>

#include "tile_core/base/error.h"
#include "tile_core/target/schedule_fields.h"

namespace tessera {
namespace {

struct Field {
  const char* name;
  int Schedule::*member;
};
constexpr std::array kFields = {Field{"stages", &Schedule::stages},  Field{"warps", &Schedule::warps},
                                Field{"blocks", &Schedule::blocks},  Field{"vector", &Schedule::vector},
                                Field{"groups", &Schedule::groups},  Field{"raster", &Schedule::raster},
                                Field{"cluster", &Schedule::cluster}};
constexpr std::array kShares = {"automatic", "together", "turns", "alternate"};
constexpr std::array kLags = {"automatic", "none", "one"};
constexpr std::array kGrids = {"automatic", "once", "persistent"};
constexpr std::array kOrders = {"automatic", "plain", "longest"};

/// The enumerator of a word; none where there is no such word.
template <typename Enum, std::size_t N>
std::optional<Enum> enumerator(const std::array<const char*, N>& words, std::string_view word) {
  auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
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
constexpr int kMaxGroups = 3;
constexpr int kMaxRaster = 64;
constexpr int kMaxCluster = 2;  // more leave multiprocessors of a GPC idle

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
    Rule<Call>{
        "blocks fit the registers",
        [](const Call& c) {
          constexpr int kFewestRegisters = 16;  // a thread cannot do with fewer
          std::int64_t registers = std::int64_t{c.s.warps} * kLanes * kFewestRegisters;  // of one block
          bool broken = c.s.blocks > 0 && registers > c.target.registers_sm / c.s.blocks;
          return broken ? fmt::format(
                              "{} blocks of {} warps leave less than {} registers a thread of {}'s {}",
                              c.s.blocks, c.s.warps, kFewestRegisters, c.target.arch, c.target.registers_sm)
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
  for (const Field& field : kFields) {
    if (int value = schedule.*field.member; value != Schedule::kAutomatic)
      parts.push_back(fmt::format("{}={}", field.name, value));
  }
  if (schedule.share != Share::automatic)
    parts.push_back(fmt::format("share={}", kShares.at(static_cast<std::size_t>(schedule.share))));
  if (schedule.lag != Lag::automatic)
    parts.push_back(fmt::format("lag={}", kLags.at(static_cast<std::size_t>(schedule.lag))));
  if (schedule.grid != Grid::automatic)
    parts.push_back(fmt::format("grid={}", kGrids.at(static_cast<std::size_t>(schedule.grid))));
  if (schedule.order != TileOrder::automatic)
    parts.push_back(fmt::format("order={}", kOrders.at(static_cast<std::size_t>(schedule.order))));
  return parts.empty() ? "automatic" : fmt::format("{}", fmt::join(parts, " "));
}

namespace {

/// Sets one field from "name=value"; false where there is no such field or value.
bool set_field(Schedule& schedule, std::string_view word) {
  std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  std::string_view name = word.substr(0, equals);
  std::string_view value = word.substr(equals + 1);
  if (name == "share") {
    auto share = enumerator<Share>(kShares, value);
    schedule.share = share.value_or(Share::automatic);
    return share.has_value();
  }
  if (name == "grid") {
    auto grid = enumerator<Grid>(kGrids, value);
    schedule.grid = grid.value_or(Grid::automatic);
    return grid.has_value();
  }
  if (name == "lag") {
    auto lag = enumerator<Lag>(kLags, value);
    schedule.lag = lag.value_or(Lag::automatic);
    return lag.has_value();
  }
  if (name == "order") {
    auto order = enumerator<TileOrder>(kOrders, value);
    schedule.order = order.value_or(TileOrder::automatic);
    return order.has_value();
  }
  for (const Field& field : kFields) {
    if (name != field.name) continue;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), schedule.*field.member);
    return error == std::errc() && end == value.data() + value.size();
  }
  return false;
}

}  // namespace

Schedule schedule_from_text(const std::string& text) {
  Schedule schedule;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "automatic" || set_field(schedule, word)) continue;
    throw UserError::format(
        "schedule '{}': expected 'automatic' or fields stages=, warps=, blocks=, vector=, groups=, raster=, "
        "cluster= with numbers, share=together|turns|alternate, lag=none|one, grid=once|persistent, "
        "order=plain|longest, "
        "but got '{}'",
        text, word);
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

}  // namespace tessera
