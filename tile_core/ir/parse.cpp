#include "tile_core/ir/parse.h"

#include <charconv>

#include "tile_core/base/error.h"
#include "tile_core/ir/parser.h"

namespace tessera {

Program parse(std::string_view text, const char* file) {
  return Parser(text, file).program();
}

Program Parser::program() {
  header();
  while (declaration()) {
  }
  program_.body = block();
  if (lexer_.next().kind != TokenKind::end) lexer_.fail("the end of the text");
  return std::move(program_);
}

void Parser::header() {
  lexer_.expect("program");
  program_.name = lexer_.word("the program's name");
  lexer_.expect("stage");
  auto stage = enumerator(lexer_.next().text, Stage::ready);
  if (!stage) lexer_.fail("a stage (tile, mapped, masked, placed, laid_out, roled, device, synced, ready)");
  program_.stage = *stage;
  lexer_.take();
  if (lexer_.accept("warps")) program_.launch.warps = lexer_.integer("the number of warps");
  program_.launch.persistent = lexer_.accept("persistent");
  program_.launch.counter = lexer_.accept("counter");
  if (lexer_.accept("shared")) program_.launch.shared_bytes = lexer_.integer("bytes of shared memory");
  lexer_.expect("{");
}

bool Parser::declaration() {
  if (lexer_.accept("dim")) {
    program_.dims.push_back({std::string(lexer_.word("the dim's name"))});
  } else if (lexer_.accept("axis")) {
    axis_declaration();
  } else if (lexer_.accept("in")) {
    tensor_declaration(false);
  } else if (lexer_.accept("out")) {
    tensor_declaration(true);
  } else if (lexer_.accept("scalar")) {
    ScalarDecl scalar{std::string(lexer_.word("the scalar's name"))};
    lexer_.expect(":");
    scalar.dtype = type().dtype;
    program_.scalars.push_back(std::move(scalar));
  } else if (lexer_.accept("grid")) {
    do program_.grid.push_back(axis());
    while (lexer_.accept(","));
    if (lexer_.accept("cluster")) {
      program_.launch.cluster.blocks = lexer_.integer("the blocks of a cluster");
      lexer_.expect("along");
      program_.launch.cluster.axis = axis();
    }
  } else {
    return false;
  }
  return true;
}

void Parser::axis_declaration() {
  AxisInfo info;
  info.name = lexer_.word("the axis' name");
  lexer_.expect(":");
  info.extent = lexer_.integer("the axis' extent");
  auto kind = enumerator(lexer_.next().text, AxisKind::warps);
  if (!kind) lexer_.fail("the axis' kind (grid, all, loop, part, warps)");
  info.kind = *kind;
  lexer_.take();
  if (info.kind != AxisKind::warps) info.dim = dim();
  program_.new_axis(std::move(info));
}

void Parser::tensor_declaration(bool output) {
  TensorDecl tensor;
  tensor.output = output;
  tensor.name = lexer_.word("the tensor's name");
  lexer_.expect(":");
  tensor.dtype = type().dtype;
  lexer_.expect("(");
  while (!lexer_.accept(")")) {
    tensor.dims.push_back(dim());
    if (lexer_.next().text != ")") lexer_.expect(",");
  }
  program_.tensors.push_back(std::move(tensor));
}

Type Parser::type() {
  Type result;
  Token name = lexer_.next();
  try {
    result.dtype = dtype_from_name(lexer_.word("a dtype"));
  } catch (const UserError& error) {
    lexer_.fail_at(name, error.what());
  }
  if (lexer_.accept("[")) {
    do {
      result.axes.push_back(axis());
      lexer_.expect(":");
      Token at = lexer_.next();
      int extent = program_.axis(result.axes.back()).extent;
      if (lexer_.integer("the axis' extent") != extent) {
        lexer_.fail_at(at, fmt::format("axis '{}' has extent {}, but the type says {}",
                                       program_.axis(result.axes.back()).name, extent, at.text));
      }
    } while (lexer_.accept(","));
    lexer_.expect("]");
  }
  result.pending = lexer_.accept("pending");
  if (lexer_.accept("x")) {
    result.slots = lexer_.integer("the number of slots");
  } else if (lexer_.accept("shared")) {
    result.space = Space::shared;
  } else if (lexer_.accept("registers")) {
    result.space = Space::registers;
  }
  if (lexer_.next().text == "<") result.layout = layout();
  return result;
}

Layout Parser::layout() {
  std::vector<Repeat> repeats;
  lexer_.expect("<");
  do repeats.push_back(repeat());
  while (lexer_.accept(","));
  lexer_.expect(">");
  return Layout(std::move(repeats));
}

Repeat Parser::repeat() {
  Repeat result;
  if (lexer_.accept("reg")) {
    result.place = Place::reg;
  } else if (lexer_.accept("lane")) {
    result.place = Place::lane;
  } else if (lexer_.accept("warp")) {
    result.place = Place::warp;
  } else {
    lexer_.fail("a place (reg, lane, warp)");
  }
  result.axis = lexer_.accept("*") ? AxisId::none : axis();
  lexer_.expect(":");
  result.count = lexer_.integer("a count");
  // "x8" is one word of the text
  Token stride = lexer_.next();
  bool read = stride.kind == TokenKind::word && stride.text.starts_with('x');
  if (read) {
    const char* last = stride.text.data() + stride.text.size();
    auto [end, error] = std::from_chars(stride.text.data() + 1, last, result.stride);
    read = end == last && error == std::errc();
  }
  if (!read) lexer_.fail("a stride, as x8");
  lexer_.take();
  return result;
}

ValueId Parser::define(const Token& at, Type type) {
  ValueId id = program_.new_value(std::move(type));
  if (!values_.try_emplace(at.text, id).second)
    lexer_.fail_at(at, fmt::format("{} is defined twice", at.text));
  return id;
}

ValueId Parser::value() {
  Token at = lexer_.next();
  auto found = values_.find(lexer_.value("a value, as %12"));
  if (found == values_.end()) lexer_.fail_at(at, fmt::format("{} is used before it is defined", at.text));
  return found->second;
}

ValueId Parser::next_value() {
  lexer_.expect(",");
  return value();
}

std::vector<ValueId> Parser::values() {
  std::vector<ValueId> result;
  do result.push_back(value());
  while (lexer_.accept(","));
  return result;
}

}  // namespace tessera
