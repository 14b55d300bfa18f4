#include "tools/subject.h"

#include <bit>
#include <charconv>
#include <fmt/ranges.h>
#include <sstream>

#include "perf/problem.h"
#include "registration/dispatch/lowering.h"
#include "registration/dispatch/planner.h"
#include "tile_core/base/error.h"
#include "tile_core/passes/pipeline.h"
#include "tools/command.h"

namespace tessera::tools {
namespace {

/// Of the operator's list or of the plan.
autotune::Variant listed_variant(const Subject& s, int number) {
  const int count = static_cast<int>(s.space.size());
  if (number > count)
    throw UsageError(fmt::format("--variant {}: the operator has the variants 1 to {} here", number, count));
  if (number > 0) return dispatch::variant_of(s.space[static_cast<std::size_t>(number - 1)]);
  const autotune::Plan plan = dispatch::plan_of(*s.op, s.problem, s.device, Policy::tile);
  if (!plan.tile)
    throw UserError::format("no tile kernel supports this call on {}: {}", s.device.name, plan.unsupported);
  return *plan.tile;
}

void replace_tiles(autotune::Variant& variant, const Tiles& by_hand, std::string_view op) {
  for (const auto& [name, extent] : by_hand) {
    const auto found = variant.tiles.find(name);
    if (found == variant.tiles.end()) {
      std::vector<std::string> names;
      for (const auto& [known, value] : variant.tiles) names.push_back(known);
      throw UsageError(
          fmt::format("--tiles: {} has the tiles {}, but got '{}'", op, fmt::join(names, ", "), name));
    }
    found->second = extent;
  }
}

/// An extent that a tile cannot have is a wrong word, too.
void check_extents(const Subject& s) {
  try {
    s.program();
  } catch (const UserError& error) {
    throw UsageError(fmt::format("--tiles: {}", error.what()));
  }
}

double number_of(const ScalarValue& scalar) {
  if (scalar.kind == Parameter::Kind::scalar_f32)
    return std::bit_cast<float>(static_cast<std::uint32_t>(scalar.bits));
  return static_cast<double>(static_cast<std::int64_t>(scalar.bits));
}

}  // namespace

Program Subject::program() const {
  return op->program(problem.facts, variant.tiles);
}

Program Subject::at(Stage stage) const {
  std::optional<Program> found;
  lower(program(), context(), [&](const Pass&, const Program& program) {
    if (!found && program.stage == stage) found = program;
  });
  return found.value();
}

Program Subject::after(std::string_view name) const {
  Program found;
  lower(program(), context(), [&](const Pass& pass, const Program& program) {
    if (pass.name == name) found = program;
  });
  return found;
}

std::shared_ptr<const Executable> Subject::executable() const {
  return dispatch::lower(*op, problem.facts, variant, device.target);
}

Subject subject_of(const CallSpec& spec, const autotune::Device& device, const Choice& choice) {
  const Call call = perf::call_of(spec);
  Subject s{.op = &call.op(), .problem = call.problem(), .device = device};
  for (const ScalarValue& scalar : call.scalars()) s.scalars.push_back(number_of(scalar));
  s.space = s.op->space(s.problem, device.target);
  s.variant = listed_variant(s, choice.variant);
  replace_tiles(s.variant, choice.tiles, spec.op);
  if (!choice.tiles.empty()) check_extents(s);
  if (choice.schedule) s.variant.schedule = *choice.schedule;
  return s;
}

Tiles tiles_from_text(const std::string& text) {
  Tiles tiles;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view number = std::string_view(word).substr(std::min(equals + 1, word.size()));
    const char* end = number.data() + number.size();
    int extent = 0;
    const auto [stop, error] = std::from_chars(number.data(), end, extent);
    if (equals == 0 || error != std::errc() || stop != end || extent < 0)
      throw UserError::format(
          "--tiles: expected NAME=NUMBER,... with numbers from 0 on, as in m=128,n=64, but got '{}'", text);
    const std::string name = word.substr(0, equals);
    if (!tiles.emplace(name, extent).second)
      throw UserError::format("--tiles: {} is given twice in '{}'", name, text);
  }
  return tiles;
}

}  // namespace tessera::tools
