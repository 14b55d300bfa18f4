#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <string>
#include <vector>

#include "tile_core/ir/program.h"

namespace tessera {

/// Prints one program; numbers values as it meets their definitions. The counterpart of Parser.
class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {}

  std::string run();
  /// One instruction with the numbers of the whole text; of one with blocks, the line that opens it.
  std::string run(const Inst& inst);
  std::string run(ValueId id);

 private:
  // print.cpp: declarations, blocks, what has blocks
  void header();
  void declarations();
  void line(int depth, const std::string& text);
  void block(const Block& block, int depth);
  void instruction(const Inst& inst, int depth);
  void branch(const If& o, int depth);
  void roles(const Roles& o, int depth);
  std::string role_head(const Role& role);
  std::string head(const Inst& inst);
  std::string loop_head(const Loop& loop);

  // print_operation.cpp
  std::string operation(const Op& op);
  std::string on_tiles(const Op& op);
  std::string on_device(const Op& op);
  std::string channel(const Channel& o);
  std::string copy_in(const CopyIn& o);
  std::string issue_dot(const IssueDot& o);
  std::string contracted(AxisId id, Precision precision);
  std::string dot_operand(const DotOperand& o);
  std::string load(TensorId tensor, const std::vector<Subscript>& subscripts);
  std::string subscript(const Subscript& s);
  std::string slot(const Slot& s);

  std::string axis(AxisId id) const { return id == AxisId::none ? "*" : p_.axis(id).name; }
  std::string dim(DimId id) const { return p_.dim(id).name; }
  std::string value(ValueId id);
  std::string values(const std::vector<ValueId>& ids) {
    return list(ids, [this](ValueId id) { return value(id); });
  }
  /// " word %12", or nothing where the value is none.
  std::string optional(const char* word, ValueId id) {
    return id == ValueId::none ? "" : fmt::format(" {} {}", word, value(id));
  }
  template <typename Item, typename Text>
  static std::string list(const std::vector<Item>& items, Text text) {
    std::vector<std::string> texts;
    for (const Item& item : items) texts.push_back(text(item));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  const Program& p_;
  std::map<ValueId, int> numbers_;
  std::string text_;
};

}  // namespace tessera
