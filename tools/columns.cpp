#include "tools/columns.h"

#include <algorithm>
#include <fmt/ranges.h>

#include "tools/event_words.h"
#include "tools/table.h"

namespace tessera::tools {
namespace {

constexpr std::size_t kMostOperations = 4;  // of a stretch of arithmetic, that are named

/// "consumer 0, 1"
std::string joined(const std::vector<std::string>& names) {
  std::string text, last;
  for (const std::string& name : names) {
    const std::string kind = name.substr(0, name.rfind(' '));
    const bool repeats = kind == last && kind != name;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", repeats ? name.substr(kind.size() + 1) : name);
    last = kind;
  }
  return text;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

Columns::Columns(const Program& program) : program_(program), words_(program), rows_{{"step"}} {
  auto make = [&](const Role* role, int instance) {
    Column& column = columns_[{role, instance}];
    column.number = rows_.front().size();
    column.name = words_.instance(role, instance);
    rows_.front().push_back(column.name);
  };
  if (!has_roles(program)) make(nullptr, 0);
  for (const Role& role : roles_of(program)) {
    for (int i = 0; i < role.instances; ++i) make(&role, i);
  }
}

Columns::Column& Columns::column(const Executed& executed) {
  return columns_.at({executed.role, executed.instance});
}

void Columns::add(const Executed& executed) {
  if (executed.role == nullptr && has_roles(program_)) return;  // indices, before the warps part
  Column& at = column(executed);
  const Op& op = executed.inst.op;
  if (const auto* loop = std::get_if<Loop>(&op)) return begin(at, executed, *loop);
  if (const std::string name = arithmetic_text(program_, executed.inst); !name.empty()) {
    add_once(at.arithmetic, name);
    ++at.operations;
    return;
  }
  const std::string text = event_text(program_, words_, executed);
  const auto* step = std::get_if<PassSlot>(&op);
  if (step != nullptr || holds_any<TakeTurn, PassTurn, CommitDots>(op) || !text.empty()) end_arithmetic(at);
  if (!text.empty()) place(at, text);
  if (step != nullptr) pass(at, executed, step->step);
  if (std::holds_alternative<TakeTurn>(op)) take_turn(at);
  if (std::holds_alternative<PassTurn>(op)) pass_turn(at, executed);
  follow_dots(at, executed);
}

void Columns::begin(Column& column, const Executed& executed, const Loop& loop) {
  end_arithmetic(column);
  const std::string axis = loop.axis == AxisId::none ? "tile" : program_.axis(loop.axis).name;
  column.begins += fmt::format("{} {}: ", axis, executed.starts.at(0));
}

void Columns::pass(Column& column, const Executed& executed, SlotStep step) {
  const SlotUse& use = executed.slots.at(0);
  const std::string slot = slot_text(program_, words_, use);
  const ValueId root = words_.root(use.channel);
  switch (step) {
    case SlotStep::acquire:
      return wait(column, {Kind::release, root, use.slot, use.use - 1}, "takes " + slot,
                  fmt::format("waits for {} to be free", slot));
    case SlotStep::commit:
      place(column, "commits " + slot);
      return signal({Kind::commit, root, use.slot, use.use}, column);
    case SlotStep::wait:
      return wait(column, {Kind::commit, root, use.slot, use.use}, "has " + slot, "waits for " + slot);
    case SlotStep::release:
      place(column, "releases " + slot);
      return signal({Kind::release, root, use.slot, use.use}, column);
    case SlotStep::skip:
      wait(column, {Kind::commit, root, use.slot, use.use}, "skips " + slot, "waits to skip " + slot);
      return signal({Kind::release, root, use.slot, use.use}, column);
  }
}

void Columns::take_turn(Column& column) {
  const Key key{Kind::turn, ValueId::none, static_cast<std::int64_t>(column.number), 0};
  wait(column, key, "takes its turn", "waits for its turn");
  signals_.erase(key);
}

void Columns::pass_turn(Column& column, const Executed& executed) {
  const Column& next = columns_.at({executed.role, (executed.instance + 1) % executed.role->instances});
  place(column, "passes the turn to " + next.name);
  signal({Kind::turn, ValueId::none, static_cast<std::int64_t>(next.number), 0}, column);
}

void Columns::follow_dots(Column& column, const Executed& executed) {
  const Op& op = executed.inst.op;
  if (const auto* dot = std::get_if<IssueDot>(&op)) add_once(column.open, program_.axis(dot->axis).name);
  if (std::holds_alternative<CommitDots>(op)) {
    column.dots.push_back(column.open);
    column.open.clear();
  }
  const auto* wait = std::get_if<WaitDots>(&op);
  while (wait != nullptr && column.dots.size() > static_cast<std::size_t>(wait->pending))
    column.dots.pop_front();
}

void Columns::end_arithmetic(Column& column) {
  if (column.operations == 0) return;
  Names& names = column.arithmetic;
  const bool more = names.size() > kMostOperations;
  names.resize(std::min(names.size(), kMostOperations));
  std::string text = fmt::format("computes {}{}", fmt::join(names, ", "), more ? ", ..." : "");
  if (column.operations > 1) text += fmt::format(" ({})", column.operations);
  Names under;
  for (const Names& group : column.dots) {
    for (const std::string& dot : group) add_once(under, dot);
  }
  if (!under.empty()) text += fmt::format(" under dot {}", fmt::join(under, ", "));
  names.clear();
  column.operations = 0;
  place(column, text);
}

void Columns::place(Column& column, const std::string& text, std::size_t after) {
  column.row = std::max(column.row, after) + 1;
  while (rows_.size() <= column.row) rows_.push_back({std::to_string(rows_.size())});
  Names& cells = rows_[column.row];
  cells.resize(std::max(cells.size(), column.number + 1));
  cells[column.number] = std::exchange(column.begins, "") + text;
}

void Columns::signal(const Key& key, const Column& column) {
  Signal& signal = signals_[key];
  signal.row = std::max(signal.row, column.row);
  signal.from.push_back(column.name);
}

void Columns::wait(Column& column, const Key& key, const std::string& ready, const std::string& waits) {
  const auto found = signals_.find(key);
  if (found == signals_.end() || found->second.row <= column.row) return place(column, ready);
  place(column, fmt::format("{} ({})", waits, joined(found->second.from)), found->second.row);
}

std::string Columns::text() {
  for (auto& [key, column] : columns_) end_arithmetic(column);
  return table(rows_);
}

}  // namespace tessera::tools
