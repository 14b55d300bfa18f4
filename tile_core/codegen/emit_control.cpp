#include <algorithm>
#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/codegen/emitter.h"
#include "tile_core/ir/operands.h"

namespace tessera::codegen {
namespace {

constexpr std::size_t kWaits = 2;  // at the end of a body: a wait and its barrier

}  // namespace

void Emitter::share(ValueId id, ValueId other) {
  names_[id] = name(other);
  arrays_[name(other)].push_back(id);
}

bool Emitter::is_free_after(const Inst& inst, ValueId id) const {
  const std::vector<ValueId>& held = arrays_.at(name(id));
  return std::none_of(held.begin(), held.end(),
                      [&](ValueId other) { return lifetimes_.needed_after(inst, other); });
}

void Emitter::assign(const std::string& to, ValueId like, const std::string& from) {
  if (!is_tile(like)) return line("{} = {};", to, from);
  open_registers(registers(like));
  line("{}[r] = {}[r];", to, from);
  close();
}

/// Whatever registers held before is of no use to the tile.
void Emitter::declare_undefined(ValueId id) {
  undefined_.insert(id);
  std::string result = declare(id);
  if (!is_tile(id)) line("{} {};", c_type(p_.type(id).dtype), result);
  line("discard({});", result);
}

void Emitter::declare_what_outlives(const Inst& inst) {
  for (ValueId id : groups_.outlive(inst)) {
    line("discard({});", declare(id));
  }
}

/// A dot in flight keeps its registers: pending tiles stay in one array, others are copied.
void Emitter::enter(const Inst& loop, ValueId parameter, ValueId carried) {
  if (undefined_.contains(carried)) {
    std::string array = declare(parameter);
    if (!is_tile(parameter)) line("{} {};", c_type(p_.type(parameter).dtype), array);
    return line("discard({});", array);
  }
  if (p_.type(carried).pending) {
    if (!is_free_after(loop, carried)) fail("a loop carries a pending tile that is needed after");
    return share(parameter, carried);
  }
  std::string array = declare(parameter);
  if (!is_tile(parameter)) line("{} {};", c_type(p_.type(parameter).dtype), array);
  assign(array, carried, name(carried));
}

/// The yields become the parameters of the next iteration. A parameter that is yielded is copied before any
/// changes.
void Emitter::hand_over(const Loop& o) {
  std::vector<std::string> from;
  for (std::size_t i = 0; i < o.parameters.size(); ++i) {
    ValueId id = o.body.yields[i];
    from.push_back(name(id));
    bool stays = from.back() == name(o.parameters[i]);
    if (p_.type(id).pending && !stays)
      fail("a pending tile cannot move to the registers of the next iteration");
    bool parameter = std::any_of(o.parameters.begin(), o.parameters.end(),
                                 [&](ValueId other) { return name(other) == from.back(); });
    if (stays || !parameter) continue;
    from.back() = fmt::format("kept_{}_{}", name(id), from.size());
    line("{} {}{};", c_type(p_.type(id).dtype), from.back(),
         is_tile(id) ? fmt::format("[{}]", registers(id)) : "");
    assign(from.back(), id, name(id));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::string parameter = name(o.parameters[i]);
    if (from[i] != parameter) assign(parameter, o.parameters[i], from[i]);
  }
}

std::string Emitter::loop_head(const Loop& o) {
  if (o.draws_its_starts()) return fmt::format("while ({} < {})", name(o.parameters.front()), name(o.end));
  std::string start = declare(o.start);
  std::string step = o.step != ValueId::none ? name(o.step) : fmt::format("{}", p_.axis(o.axis).extent);
  return fmt::format("for (int64 {0} = {1}; {0} < {2}; {0} += {3})", start, name(o.begin), name(o.end), step);
}

/// A body that ends with a wait, under which rows are read for the next iteration: these stand where it
/// starts, and the wait again after the loop. What a barrier waits for hides only what follows in its own
/// basic block.
void Emitter::body_under_waits(const Loop& o, const Inst& dot) {
  const std::span all(o.body.insts);
  read_first_rows(dot);
  instructions(all.last(kWaits));
  instructions(all.first(all.size() - kWaits));
}

/// What a loop carries lives in the arrays of its parameters, which are its results too.
void Emitter::loop(const Inst& inst, const Loop& o) {
  declare_what_outlives(inst);
  for (std::size_t i = 0; i < o.parameters.size(); ++i) {
    enter(inst, o.parameters[i], o.carried[i]);
    share(inst.results[i], o.parameters[i]);
    handed_over_[o.body.yields[i]] = o.parameters[i];
  }
  if (o.ticket != ValueId::none) {
    std::string first = "0";
    if (o.first_ticket != ValueId::none)
      first = fmt::format("static_cast<unsigned>({})", name(o.first_ticket));
    line("unsigned {} = {};", declare(o.ticket), first);
    tickets_.insert(o.ticket);
  }
  declare_sources(inst);
  const std::vector<PartialSum> deferred = defer_lanes(inst);
  const auto early = early_.rows.find(&inst);
  const Inst* const trailing = crosses_barrier(o);
  if (trailing != nullptr) read_first_step(*trailing);
  text_ += "#pragma unroll 1\n";
  open(loop_head(o));
  std::vector<ValueId> outer = std::exchange(parameters_, o.parameters);
  early == early_.rows.end() ? block(o.body) : body_under_waits(o, *early->second);
  if (trailing != nullptr) multiply_last_step(*trailing);
  parameters_ = std::move(outer);
  hand_over(o);
  if (o.ticket != ValueId::none) line("++{};", name(o.ticket));
  close();
  if (early != early_.rows.end()) instructions(std::span(o.body.insts).last(kWaits));
  for (const PartialSum& sum : deferred) fold_deferred(sum);
}

template <typename Print>
std::string Emitter::printed(const Print& print) {
  std::string before = std::exchange(text_, "");
  ++depth_;
  print();
  --depth_;
  return std::exchange(text_, std::move(before));
}

/// What a block yields becomes the results.
void Emitter::leave(const Block& block, const std::vector<ValueId>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::string from = name(block.yields[i]);
    if (from == name(results[i]) || undefined_.contains(block.yields[i])) continue;
    if (p_.type(block.yields[i]).pending) fail("a branch yields a pending tile that the other has not");
    assign(name(results[i]), results[i], from);
  }
}

/// Coordinates that only one block of a branch needs are made there: before a loop they would take its
/// registers.
void Emitter::block_of_branch(const Block& inner) {
  bool indexes = false;
  for_each_inst(inner,
                [&](const Inst& inst) { indexes = indexes || std::holds_alternative<Index>(inst.op); });
  if (indexes && role_ != nullptr && !role_->elected) line("pin(lane);");
  block(inner);
}

/// A result that both blocks leave in one array stays there.
void Emitter::branch(const Inst& inst, const If& o) {
  declare_what_outlives(inst);
  std::set<std::string> outside;
  for (const auto& [array, held] : arrays_) outside.insert(array);
  std::string then = printed([&] { block_of_branch(o.then); });
  std::string otherwise = printed([&] { block_of_branch(o.otherwise); });
  for (std::size_t i = 0; i < inst.results.size(); ++i) {
    ValueId result = inst.results[i];
    std::string array = name(o.then.yields[i]);
    if (is_tile(result) && array == name(o.otherwise.yields[i]) && outside.contains(array)) {
      share(result, o.then.yields[i]);
      continue;
    }
    declare(result);
    if (!is_tile(result)) line("{} {};", c_type(p_.type(result).dtype), name(result));
  }
  then += printed([&] { leave(o.then, inst.results); });
  otherwise += printed([&] { leave(o.otherwise, inst.results); });
  open(fmt::format("if ({})", name(o.condition)));
  text_ += then;
  if (!otherwise.empty()) {
    --depth_;
    open("} else");
    text_ += otherwise;
  }
  close();
}

}  // namespace tessera::codegen
