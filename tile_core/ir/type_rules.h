#pragma once
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {

using Axes = std::vector<AxisId>;

/// The typing rules: what an instruction's result has to be, given its operands.
class TypeRules {
 public:
  TypeRules(const Program& program, const Inst& inst) : p_(program), inst_(inst) {}
  void run() const;

 private:
  // verify_types.cpp: what every operation obeys, loops and branches
  void results_are_as_many_as_the_operation_defines() const;
  void pending_values_are_waited_for() const;
  void loop(const Loop& o) const;
  void loop_axis(const Loop& o) const;
  void drawn_starts(const Loop& o) const;
  void carried(const Loop& o) const;
  void branch(const If& o) const;
  void roles(const Roles& o) const;

  // verify_tile_types.cpp
  void constant(const Constant& o) const;
  void index(const Index& o) const;
  void slice(const Slice& o) const;
  void unary(const Unary& o) const;
  void binary(const Binary& o) const;
  void fma(const Fma& o) const;
  void select(const Select& o) const;
  void reduce_warp(const ReduceWarp& o) const;
  void dot(const Dot& o) const;
  void store(const Store& o) const;
  Axes contracted(ValueId a, AxisId axis) const;
  void dot_of(const Type& a, const Type& b, AxisId axis, Precision precision) const;
  void accumulates(ValueId accumulator) const;
  void axis_is_part(AxisId of, AxisId to, const Type& whole) const;
  Axes subscripts(TensorId id, const std::vector<Subscript>& list) const;
  void adds_to(TensorId id) const;
  void writes(TensorId id, const std::vector<Subscript>& list, const Type& value,
              const std::string& text) const;

  // verify_device_types.cpp
  Type tile_of(const Slot& slot) const;
  void slot_holds(const Slot& slot, DType dtype, const Axes& axes) const;
  void dot_shared(const DotShared& o) const;
  void issue_dot(const IssueDot& o) const;
  void takes_matrices(const Type& a, const Type& b, Precision precision, const char* dot) const;
  void wait_dots(const WaitDots& o) const;

  const Type& type(ValueId id) const { return p_.type(id); }
  const Type& result() const { return p_.type(inst_.result()); }
  std::string text(ValueId id) const { return fmt::format("{}: {}", name_of(p_, id), to_text(p_, type(id))); }
  std::string text(DType dtype, Axes axes) const {
    return to_text(p_, Type{.dtype = dtype, .axes = std::move(axes)});
  }
  [[noreturn]] void fail(const std::string& what) const { fail_verify(p_, inst_, what); }
  void result_is(DType dtype, const Axes& axes) const;
  void same_dtype(ValueId a, ValueId b) const;
  void scalar_index(ValueId id, const char* role) const;
  void scalar_condition(ValueId id) const;

  const Program& p_;
  const Inst& inst_;
};

/// The axes of some tiles together.
Axes joined(const std::vector<Axes>& lists);

}  // namespace tessera
