#pragma once
#include <string>
#include <vector>

#include "tile_core/base/loc.h"
#include "tile_core/ir/program.h"

namespace tessera::dsl {

/// The program under construction: every handle of the DSL points to one. Instructions go to the innermost
/// open loop.
class Tracer {
 public:
  explicit Tracer(std::string name);

  Program program;

  ValueId emit(Op op, Type type, Loc loc);
  void emit_statement(Op op, Loc loc);

  /// A literal of this dtype.
  ValueId constant(double value, DType dtype, Loc loc);

  int new_variable(ValueId initial);
  ValueId variable(int index) const { return variables_.at(static_cast<std::size_t>(index)); }
  void assign(int index, ValueId value);

  void open_loop(AxisId axis, ValueId begin, ValueId end, bool pipelined, Loc loc);
  void close_loop();

  /// Remembers a mistake that cannot be thrown where it happens (a loop left by break); finish() throws it.
  void fail_later(std::string message);
  Program finish();

  /// Where a value was written.
  Loc loc_of(ValueId value) const { return locs_.at(index_of(value)); }
  /// An index expression: made of indices, sizes and integers only.
  bool is_index_expression(ValueId value) const { return index_expressions_.at(index_of(value)); }

 private:
  struct OpenLoop {
    Inst inst;
    std::vector<ValueId> entry;  // the variables' values before the loop
  };

  Block& block();
  ValueId new_value(Type type, bool index_expression, Loc loc);
  bool reads_indices_only(const Op& op) const;

  std::vector<ValueId> variables_;
  std::vector<OpenLoop> open_;
  std::vector<bool> index_expressions_;
  std::vector<Loc> locs_;
  std::string failure_;
};

}  // namespace tessera::dsl
