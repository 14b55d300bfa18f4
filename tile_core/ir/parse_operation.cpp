#include <tuple>

#include "tile_core/ir/parser.h"

namespace tessera {

/// Reads what follows an operation's name; none where there is no such operation.
std::optional<Op> Parser::operation(std::string_view name) {
  for (auto family : {&Parser::leaf, &Parser::arithmetic, &Parser::reduction, &Parser::memory,
                      &Parser::shared_memory, &Parser::slot_step, &Parser::in_flight}) {
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
  if (name == "block_count") return BlockCount{};
  if (name == "cluster_index") return ClusterIndex{};
  if (name == "cluster_count") return ClusterCount{};
  if (name == "cluster_rank") return ClusterRank{};
  if (name == "undefined") return Undefined{};
  auto with_start = [this](auto op) {
    if (lexer_.accept("at")) op.start = value();
    return op;
  };
  if (name == "index") return with_start(Index{axis()});
  if (name == "end") return with_start(End{axis()});
  return std::nullopt;
}

std::optional<Op> Parser::arithmetic(std::string_view name) {
  if (auto fn = enumerator(name, UnaryFn::logical_not)) return Unary{*fn, value()};
  if (auto fn = enumerator(name, BinaryFn::logical_or)) {
    ValueId a = value();
    return Binary{*fn, a, next_value()};
  }
  if (name == "fma") {
    ValueId a = value(), b = next_value();
    return Fma{a, b, next_value()};
  }
  if (name == "select") {
    ValueId condition = value();
    ValueId a = next_value();
    return Select{condition, a, next_value()};
  }
  if (name == "cast") return Cast{value()};
  if (name == "broadcast") return Broadcast{value()};
  if (name == "slice") return slice();
  if (name == "convert") return Convert{value()};
  return std::nullopt;
}

/// "%5 m/r at 0"
Slice Parser::slice() {
  Slice op{.a = value(), .of = axis()};
  lexer_.expect("/");
  op.to = axis();
  lexer_.expect("at");
  op.index = lexer_.integer("the number of the slice");
  return op;
}

AxisId Parser::contracted_axis() {
  lexer_.expect("<");
  AxisId result = axis();
  lexer_.expect(">");
  return result;
}

std::pair<AxisId, Precision> Parser::contraction() {
  lexer_.expect("<");
  std::pair result(axis(), Precision::ieee);
  if (lexer_.accept(",")) {
    auto precision = enumerator(lexer_.next().text, Precision::tf32x3);
    if (!precision) lexer_.fail("a precision (ieee, tf32, tf32x3)");
    lexer_.take();
    result.second = *precision;
  }
  lexer_.expect(">");
  return result;
}

std::optional<Op> Parser::reduction(std::string_view name) {
  if (name == "dot") {
    Dot op;
    std::tie(op.axis, op.precision) = contraction();
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
  if (name == "store" || name == "accumulate") {
    Load target = load();
    ValueId written = next_value();
    return Store{target.tensor, std::move(target.subscripts), written, name == "accumulate"};
  }
  return std::nullopt;
}

/// "a(m at %1, k at %2)"
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

}  // namespace tessera
