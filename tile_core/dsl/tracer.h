#pragma once
#include <string>
#include <vector>

#include "tile_core/base/loc.h"
#include "tile_core/ir/program.h"

namespace tessera::dsl {

inline constexpr int kMaxTile = 1 << 20;  ///< lanes of an axis, and elements of a tile

/// The program under construction: every handle of the DSL points to one. Instructions go to the innermost
/// open loop.
class Tracer {
 public:
  Tracer(std::string name, Loc loc);

  Program program;

  ValueId emit(Op op, Type type, Loc loc);
  void emit_statement(Op op, Loc loc);

  /// A literal of this dtype; throws where an integer does not hold it, or a float only as inf or 0.
  ValueId constant(double value, Type type, Loc loc);

  int new_variable(ValueId initial);
  ValueId variable(int index, Loc loc) const;
  void assign(int index, ValueId value, Loc loc);

  void open_loop(AxisId axis, ValueId begin, ValueId end, bool pipelined, Loc loc);
  /// The innermost loop over `axis` is to visit only what lies between lanes in which the condition can hold.
  void visit_where(AxisId axis, ValueId condition, Loc loc);
  void close_loop();

  void declare(DimInfo dim, Loc loc);
  void declare(TensorDecl tensor, Loc loc);
  /// Remembers a mistake that cannot be thrown where it happens (a loop left by break); finish() throws it.
  void fail_later(std::string message);
  Program finish();

  /// Where a value was written.
  Loc loc_of(ValueId value) const { return locs_.at(index_of(value)); }
  /// Whether indices along the axis have a meaning here: a loop's only in its body.
  bool in_scope(AxisId axis) const;
  /// The blocks around the next instruction, as far as they are written.
  std::vector<const Block*> open_blocks() const;
  /// An index expression: made of indices, sizes and integers only.
  bool is_index_expression(ValueId value) const { return index_expressions_.at(index_of(value)); }

 private:
  struct OpenLoop {
    Inst inst;
    std::vector<ValueId> entry;       // the variables' values before the loop
    std::vector<ValueId> conditions;  // of visit_where
    int scope = 0;
  };

  Block& block();
  ValueId new_value(Type type, bool index_expression, Loc loc);
  bool reads_indices_only(const Op& op) const;
  void check_in_scope(ValueId value, Loc loc) const;
  void check_in_scope(AxisId axis, Loc loc) const;
  void check_in_scope(const Op& op, Loc loc) const;
  void check_dims() const;
  void check_outputs() const;
  void check_size(const Type& type, Loc loc) const;

  std::vector<ValueId> variables_;  // none: its loop has ended
  std::vector<OpenLoop> open_;
  std::vector<bool> index_expressions_;
  std::vector<Loc> locs_;
  std::vector<int> scopes_;  // of every value: the number of the loop around it, 0 where there is none
  int last_scope_ = 0;
  std::vector<Loc> dim_locs_;
  std::vector<Loc> tensor_locs_;
  std::string failure_;
  bool finished_ = false;
};

}  // namespace tessera::dsl
