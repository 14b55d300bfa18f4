#pragma once
#include <initializer_list>
#include <map>
#include <optional>

#include "tile_core/ir/lexer.h"
#include "tile_core/ir/program.h"

namespace tessera {

/// Recursive descent over the form that Printer writes. Functions are named after what they read.
class Parser {
 public:
  Parser(std::string_view text, const char* file) : lexer_(text, file) {}
  Program program();

 private:
  // parse.cpp: declarations, types
  void header();
  bool declaration();
  void axis_declaration();
  void tensor_declaration(bool output);
  Type type();
  Layout layout();
  Repeat repeat();

  // parse_block.cpp
  Block block();
  Inst instruction();
  void line(Inst& inst);
  void loop(Inst& inst, bool pipelined);
  void carried_values(Loop& loop);
  void branch(Inst& inst);
  void results(Inst& inst, const std::vector<ValueId>& like, std::string_view expected);
  Roles roles();
  Role role();

  // parse_operation.cpp
  std::optional<Op> operation(std::string_view name);
  std::optional<Op> leaf(std::string_view name);
  std::optional<Op> arithmetic(std::string_view name);
  std::optional<Op> reduction(std::string_view name);
  std::optional<Op> memory(std::string_view name);
  Slice slice();
  Load load();
  Subscript subscript();

  // parse_device.cpp
  std::optional<Op> shared_memory(std::string_view name);
  std::optional<Op> slot_step(std::string_view name);
  std::optional<Op> in_flight(std::string_view name);
  int pending_groups();
  Channel channel();
  CopyIn copy_in(CopyKind kind);
  CopyOut copy_out();
  IssueDot issue_dot();
  DotOperand dot_operand();
  Slot slot();
  Part part();

  // names and values
  template <typename Id, typename Table>
  Id named(const Table& table, std::string_view kind);
  AxisId axis() { return named<AxisId>(program_.axes, "an axis"); }
  AxisId contracted_axis();                    ///< "<k>"
  std::pair<AxisId, Precision> contraction();  ///< "<k>" or "<k, tf32>"
  DimId dim() { return named<DimId>(program_.dims, "a dim"); }
  TensorId tensor() { return named<TensorId>(program_.tensors, "a tensor"); }
  std::vector<ValueId> values();
  ValueId value();
  ValueId next_value();  ///< after a comma
  ValueId number();      ///< defines a value that is i64
  ValueId define(const Token& at, Type type);
  template <typename Enum>
  std::optional<Enum> enumerator(std::string_view name, Enum last);

  Lexer lexer_;
  Program program_;
  std::map<std::string_view, ValueId> values_;  // by what the text calls them
};

template <typename Id, typename Table>
Id Parser::named(const Table& table, std::string_view kind) {
  const Token& token = lexer_.next();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (token.text != table[i].name) continue;
    lexer_.take();
    return static_cast<Id>(i);
  }
  std::string expected(kind);
  for (const auto& entry : table) expected += (&entry == &table.front() ? " (" : ", ") + entry.name;
  lexer_.fail(table.empty() ? expected : expected + ")");
}

template <typename Enum>
std::optional<Enum> Parser::enumerator(std::string_view name, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name == name_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace tessera
