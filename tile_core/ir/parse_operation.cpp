#include "tile_core/ir/parser.h"

namespace tessera {

/// Reads what follows an operation's name; none where there is no such operation.
std::optional<Op> Parser::operation(std::string_view name) {
  for (auto family :
       {&Parser::leaf, &Parser::arithmetic, &Parser::reduction, &Parser::memory, &Parser::shared_memory}) {
    if (std::optional<Op> op = (this->*family)(name)) return op;
  }
  return std::nullopt;
}

std::optional<Op> Parser::leaf(std::string_view name) {
  if (name == "constant") return Constant{lexer_.number("a number")};
  if (name == "scalar") return Scalar{named<ScalarId>(program_.scalars, "a scalar")};
  if (name == "size") return Size{dim()};
  if (name == "start") return Start{axis()};
  if (name == "block_index") return BlockIndex{};
  if (name == "index") {
    Index op{axis()};
    if (lexer_.accept("at")) op.start = value();
    return op;
  }
  return std::nullopt;
}

std::optional<Op> Parser::arithmetic(std::string_view name) {
  if (auto fn = enumerator(name, UnaryFn::logical_not)) return Unary{*fn, value()};
  if (auto fn = enumerator(name, BinaryFn::logical_or)) {
    ValueId a = value();
    return Binary{*fn, a, next_value()};
  }
  if (name == "select") {
    ValueId condition = value();
    ValueId a = next_value();
    return Select{condition, a, next_value()};
  }
  if (name == "cast") return Cast{value()};
  if (name == "broadcast") return Broadcast{value()};
  if (name == "convert") return Convert{value()};
  return std::nullopt;
}

AxisId Parser::contracted_axis() {
  lexer_.expect("<");
  AxisId result = axis();
  lexer_.expect(">");
  return result;
}

std::optional<Op> Parser::reduction(std::string_view name) {
  if (name == "dot") {
    Dot op;
    op.axis = contracted_axis();
    op.a = value();
    op.b = next_value();
    if (lexer_.accept("onto")) op.accumulator = value();
    return op;
  }
  constexpr std::string_view kWarp = "reduce_warp_";
  constexpr std::string_view kReduce = "reduce_";
  if (name.starts_with(kWarp)) {
    auto fn = enumerator(name.substr(kWarp.size()), ReduceFn::min);
    if (!fn) return std::nullopt;
    AxisId along = contracted_axis();
    ValueId a = value();
    lexer_.expect("to");
    return ReduceWarp{*fn, a, along, axis()};
  }
  if (name.starts_with(kReduce)) {
    auto fn = enumerator(name.substr(kReduce.size()), ReduceFn::min);
    if (!fn) return std::nullopt;
    AxisId along = contracted_axis();
    return Reduce{*fn, value(), along};
  }
  return std::nullopt;
}

std::optional<Op> Parser::memory(std::string_view name) {
  if (name == "load") return load();
  if (name == "store") {
    Load target = load();
    return Store{target.tensor, std::move(target.subscripts), next_value()};
  }
  return std::nullopt;
}

std::optional<Op> Parser::shared_memory(std::string_view name) {
  if (name == "channel") return channel();
  if (name == "commit_copies") return CommitCopies{};
  if (name == "wait_copies") return WaitCopies{lexer_.integer("the number of pending groups")};
  if (name == "barrier") return Barrier{};
  if (name == "read_shared") return ReadShared{slot()};
  if (name == "write_shared") {
    Slot to = slot();
    return WriteShared{to, next_value()};
  }
  if (name == "copy" || name == "copy_async") {
    CopyIn op{.load = load(), .to = {}, .async = name == "copy_async"};
    lexer_.expect("to");
    op.to = slot();
    lexer_.expect("vector");
    op.vector = lexer_.integer("the elements of one access");
    return op;
  }
  if (name == "dot_shared") {
    DotShared op;
    op.axis = contracted_axis();
    op.a = slot();
    lexer_.expect(",");
    op.b = slot();
    lexer_.expect("onto");
    op.accumulator = value();
    return op;
  }
  return std::nullopt;
}

Channel Parser::channel() {
  Channel op;
  lexer_.expect("order");
  lexer_.expect("(");
  while (!lexer_.accept(")")) {
    op.order.push_back(axis());
    if (lexer_.next().text != ")") lexer_.expect(",");
  }
  lexer_.expect("pitch");
  op.pitch = lexer_.integer("elements from row to row");
  if (lexer_.accept("offset")) op.offset = lexer_.integer("bytes");
  return op;
}

Load Parser::load() {
  Load op{.tensor = tensor(), .subscripts = {}};
  lexer_.expect("(");
  while (!lexer_.accept(")")) {
    op.subscripts.push_back(subscript());
    if (lexer_.next().text != ")") lexer_.expect(",");
  }
  return op;
}

Subscript Parser::subscript() {
  if (lexer_.next().kind == TokenKind::value) return {AxisId::none, value()};
  Subscript result{axis()};
  if (lexer_.accept("at")) result.value = value();
  return result;
}

/// "%5" of a channel with one slot, "%5[2]", "%5[%9 + 2]".
Slot Parser::slot() {
  Slot result{.channel = value()};
  if (!lexer_.accept("[")) return result;
  if (lexer_.next().kind == TokenKind::value) {
    result.ticket = value();
    lexer_.expect("+");
  }
  result.offset = lexer_.integer("the slot's number");
  lexer_.expect("]");
  return result;
}

}  // namespace tessera
