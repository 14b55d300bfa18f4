#include <tuple>

#include "tile_core/ir/parser.h"

namespace tessera {

std::optional<Op> Parser::shared_memory(std::string_view name) {
  if (name == "channel") return channel();
  if (name == "commit_copies") return CommitCopies{};
  if (name == "wait_copies") return WaitCopies{pending_groups()};
  if (name == "view") return View{slot()};
  if (name == "barrier") return Barrier{};
  if (name == "fence_shared") return FenceShared{};
  if (name == "read_shared") return ReadShared{slot()};
  if (name == "write_shared") {
    Slot to = slot();
    return WriteShared{to, next_value()};
  }
  if (auto kind = enumerator(name, CopyKind::bulk)) return copy_in(*kind);
  if (name == "dot_shared" || name == "dot_mma") {
    DotShared op{.mma = name == "dot_mma"};
    std::tie(op.axis, op.precision) = contraction();
    op.a = dot_operand();
    lexer_.expect(",");
    op.b = slot();
    lexer_.expect("onto");
    op.accumulator = value();
    return op;
  }
  return std::nullopt;
}

std::optional<Op> Parser::slot_step(std::string_view name) {
  if (auto step = enumerator(name, SlotStep::skip)) return PassSlot{*step, slot()};
  return std::nullopt;
}

std::optional<Op> Parser::in_flight(std::string_view name) {
  if (name == "copy_out" || name == "accumulate_out") {
    CopyOut op = copy_out();
    op.accumulate = name == "accumulate_out";
    return op;
  }
  if (name == "commit_stores") return CommitStores{};
  if (name == "wait_stores") return WaitStores{pending_groups()};
  if (name == "issue_dot") return issue_dot();
  if (name == "fence_dots") return FenceDots{};
  if (name == "commit_dots") return CommitDots{};
  if (name == "wait_dots") return WaitDots{pending_groups(), {}};  // line() reads the values
  if (name == "take_turn") return TakeTurn{};
  if (name == "pass_turn") return PassTurn{};
  if (name == "draw_tile") return DrawTile{value()};
  return std::nullopt;
}

int Parser::pending_groups() {
  return lexer_.integer("the number of pending groups");
}

Channel Parser::channel() {
  Channel op;
  lexer_.expect("order");
  lexer_.expect("(");
  while (!lexer_.accept(")")) {
    op.order.push_back(axis());
    if (lexer_.next().text != ")") lexer_.expect(",");
  }
  if (lexer_.accept("swizzle")) {
    op.swizzle = lexer_.integer("bytes of a row of an atom");
  } else {
    lexer_.expect("pitch");
    op.pitch = lexer_.integer("elements from row to row");
  }
  if (lexer_.accept("with")) op.with = value();
  if (lexer_.accept("offset")) op.offset = lexer_.integer("bytes");
  if (lexer_.accept("barriers")) op.barriers = lexer_.integer("bytes");
  return op;
}

CopyIn Parser::copy_in(CopyKind kind) {
  CopyIn op{.load = load(), .to = {}, .kind = kind};
  lexer_.expect("to");
  op.to = slot();
  if (kind == CopyKind::bulk) {
    op.multicast = lexer_.accept("multicast");
    return op;
  }
  lexer_.expect("vector");
  op.vector = lexer_.integer("the elements of one access");
  return op;
}

CopyOut Parser::copy_out() {
  CopyOut op{.from = slot()};
  lexer_.expect("to");
  Load target = load();
  op.tensor = target.tensor;
  op.subscripts = std::move(target.subscripts);
  return op;
}

IssueDot Parser::issue_dot() {
  IssueDot op;
  int line = lexer_.next().line;
  op.axis = contracted_axis();
  op.a = dot_operand();
  lexer_.expect(",");
  op.b = slot();
  if (lexer_.accept("onto")) op.accumulator = value();
  // On the next line, "if" begins a statement.
  if (lexer_.next().line == line && lexer_.accept("if")) op.accumulate = value();
  return op;
}

/// One in registers reads like a slot of a channel that has one.
DotOperand Parser::dot_operand() {
  Slot a = slot();
  if (program_.type(a.channel).is_channel()) return {.slot = a};
  return {.value = a.channel};
}

/// "%5" of a channel with one slot, "%5[2]", "%5[%9 + 2]", "%5[%9 + 2, mc/m at %4]".
Slot Parser::slot() {
  Slot result{.channel = value()};
  if (!lexer_.accept("[")) return result;
  if (lexer_.next().kind == TokenKind::value) {
    result.ticket = value();
    lexer_.expect("+");
  }
  result.offset = lexer_.integer("the slot's number");
  if (lexer_.accept(",")) result.part = part();
  lexer_.expect("]");
  return result;
}

Part Parser::part() {
  Part result{.of = axis()};
  lexer_.expect("/");
  result.to = axis();
  lexer_.expect("at");
  result.index = value();
  return result;
}

}  // namespace tessera
