#include <fmt/format.h>

#include "tile_core/ir/parser.h"

namespace tessera {

Block Parser::block() {
  Block result;
  while (!lexer_.accept("}")) {
    if (lexer_.accept("yield")) {
      result.yields = values();
      lexer_.expect("}");
      return result;
    }
    result.insts.push_back(instruction());
  }
  return result;
}

Inst Parser::instruction() {
  Inst inst{{}, {}, lexer_.loc()};
  if (lexer_.accept("pipelined")) {
    loop(inst, true);
  } else if (lexer_.accept("sequential")) {
    loop(inst, false);
  } else if (lexer_.accept("if")) {
    branch(inst);
  } else if (lexer_.accept("roles")) {
    inst.op = roles();
  } else {
    line(inst);
  }
  return inst;
}

/// "%3: i64 = size K", "%4: f32[m:16], %5: f32[m:16] = wait_dots 0 %2, %3", "barrier"
void Parser::line(Inst& inst) {
  struct Result {
    Token at;
    Type type;
  };
  std::vector<Result> results;
  while (lexer_.next().kind == TokenKind::value) {
    Token at = lexer_.next();
    lexer_.value("a value");
    lexer_.expect(":");
    results.push_back({at, type()});
    if (!lexer_.accept(",")) lexer_.expect("=");
  }
  Token name = lexer_.next();
  lexer_.word("an operation");
  auto op = operation(name.text);
  if (!op) lexer_.fail_at(name, fmt::format("expected an operation, but got '{}'", name.text));
  inst.op = std::move(*op);
  WaitDots* wait = std::get_if<WaitDots>(&inst.op);
  if (wait != nullptr && !results.empty()) wait->values = values();
  for (Result& r : results) inst.results.push_back(define(r.at, std::move(r.type)));
}

ValueId Parser::number() {
  Token at = lexer_.next();
  Type scalar;
  scalar.dtype = i64;
  lexer_.value("a value");
  return define(at, std::move(scalar));
}

void Parser::loop(Inst& inst, bool pipelined) {
  Loop loop;
  loop.pipelined = pipelined;
  loop.axis = lexer_.accept("*") ? AxisId::none : axis();
  lexer_.expect("from");
  loop.begin = value();
  lexer_.expect("until");
  loop.end = value();
  if (lexer_.accept("step")) loop.step = value();
  if (lexer_.accept("start")) loop.start = number();
  if (lexer_.accept("ticket")) loop.ticket = number();
  if (lexer_.accept("after")) loop.first_ticket = value();
  if (lexer_.accept("carry")) carried_values(loop);
  lexer_.expect("{");
  loop.body = block();
  results(inst, loop.parameters, "a result for every carried value");
  inst.op = std::move(loop);
}

void Parser::carried_values(Loop& loop) {
  lexer_.expect("(");
  do {
    Token at = lexer_.next();
    lexer_.value("a parameter");
    lexer_.expect(":");
    Type parameter = type();
    lexer_.expect("=");
    loop.carried.push_back(value());
    loop.parameters.push_back(define(at, std::move(parameter)));
  } while (lexer_.accept(","));
  lexer_.expect(")");
}

void Parser::branch(Inst& inst) {
  If branch{.condition = value()};
  lexer_.expect("{");
  branch.then = block();
  if (lexer_.accept("else")) {
    lexer_.expect("{");
    branch.otherwise = block();
  }
  results(inst, branch.then.yields, "a result for every value that is yielded");
  inst.op = std::move(branch);
}

/// "results %7, %8": values of the types of `like`.
void Parser::results(Inst& inst, const std::vector<ValueId>& like, std::string_view expected) {
  if (!lexer_.accept("results")) return;
  for (ValueId id : like) {
    if (!inst.results.empty()) lexer_.expect(",");
    Token at = lexer_.next();
    Type type = program_.type(id);
    lexer_.value(expected);
    inst.results.push_back(define(at, std::move(type)));
  }
}

Roles Parser::roles() {
  Roles result;
  lexer_.expect("{");
  while (!lexer_.accept("}")) result.roles.push_back(role());
  return result;
}

Role Parser::role() {
  Role result;
  lexer_.expect("role");
  lexer_.expect("warps");
  result.warps = lexer_.integer("the number of warps");
  if (lexer_.accept("instances")) result.instances = lexer_.integer("the number of instances");
  if (lexer_.accept("registers")) result.registers = lexer_.integer("registers of a thread");
  result.elected = lexer_.accept("elected");
  if (lexer_.accept("instance")) result.instance = number();
  lexer_.expect("{");
  result.body = block();
  return result;
}

}  // namespace tessera
