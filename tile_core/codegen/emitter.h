#pragma once
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tile_core/codegen/dot_groups.h"
#include "tile_core/codegen/exchange.h"
#include "tile_core/codegen/kernel_text.h"
#include "tile_core/codegen/lifetimes.h"
#include "tile_core/ir/channel.h"
#include "tile_core/ir/early_reads.h"
#include "tile_core/ir/partial_sum.h"
#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/schedule.h"

namespace tessera::codegen {

/// Prints the body of one kernel: one array per tile, one unrolled loop per operation. Each emit_*.cpp file
/// holds the operations of one kind.
class Emitter {
 public:
  Emitter(const Program& program, const Facts& facts, const Schedule& schedule);

  std::string body();
  /// Of the body, after it has been printed: the maps that it uses, and the declarations of its dots.
  std::vector<TensorMap> maps() const { return maps_; }
  std::string declarations() const;

 private:
  /// How a tile is addressed: the pointer expression's parts for element coordinates.
  struct Address {
    std::string base;                ///< elements from the tensor's start, the same for all registers
    std::string step;                ///< what register r adds
    std::string inside;              ///< the condition that the element exists
    std::vector<std::string> setup;  ///< statements that the condition needs
  };

  /// Where a copy of a loop's body reads: a pointer that the loop carries.
  struct Source {
    std::string pointer;
    std::string step;  ///< of an iteration
  };

  // emitter.cpp
  void block(const Block& block);
  void instructions(std::span<const Inst> insts);
  void instruction(const Inst& inst);
  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    append(fmt::format(text, std::forward<Args>(args)...));
  }
  void append(const std::string& text);
  void open(const std::string& text) { append(text + " {"), ++depth_; }
  void close() { --depth_, append("}"); }
  void open_registers(int count, int step = 1);  ///< for (int r = 0; r < count; r += step), unrolled
  std::string name(ValueId id) const;
  std::string declare(ValueId id);  ///< names a value; tiles are declared as arrays
  int registers(ValueId id) const { return p_.type(id).layout.count(Place::reg); }
  bool is_tile(ValueId id) const { return !p_.type(id).axes.empty(); }
  bool is_16_bit(ValueId id) const { return is_float(p_.type(id).dtype) && size_of(p_.type(id).dtype) == 2; }
  /// The element of `operand` for register `r` of a value with layout `of`.
  std::string element(ValueId operand, const Layout& of, const std::string& r = "r") const;
  int threads() const;
  [[noreturn]] void fail(const std::string& what) const;

  // emit_control.cpp
  void loop(const Inst& inst, const Loop& o);
  std::string loop_head(const Loop& o);
  void body_under_waits(const Loop& o, const Inst& dot);
  void block_of_branch(const Block& inner);
  void branch(const Inst& inst, const If& o);
  void enter(const Inst& loop, ValueId parameter, ValueId carried);
  void hand_over(const Loop& o);
  void leave(const Block& block, const std::vector<ValueId>& results);
  void assign(const std::string& to, ValueId like, const std::string& from);
  void declare_undefined(ValueId id);
  void declare_what_outlives(const Inst& inst);
  /// The value lives in the array of another from here on.
  void share(ValueId id, ValueId other);
  /// Whether nothing that the array of `id` holds is needed after the instruction.
  bool is_free_after(const Inst& inst, ValueId id) const;
  template <typename Print>
  std::string printed(const Print& print);

  // emit_values.cpp
  std::string literal(DType dtype, double value) const;
  std::string unary(const Unary& o, const std::string& a) const;
  std::string binary(const Binary& o, const std::string& a, const std::string& b) const;
  bool beside_index(const Op& op) const;
  std::string below(const Index& index, BinaryFn fn, const std::string& bound, const Layout& layout) const;
  void pointwise(const Inst& inst, const std::string& expression);
  void emit_value(const Inst& inst);
  void emit_cast(const Inst& inst, const Cast& o);
  void emit_slice(const Inst& inst, const Slice& o);

  // emit_global.cpp
  /// How the number of elements that exist is computed: for each thread at once, or for the block first,
  /// which costs less where the start changes in a loop.
  enum class Bound { of_thread, of_block_first };
  Address address(TensorId tensor, const std::vector<Subscript>& subscripts, const Layout& layout,
                  Bound bound = Bound::of_thread) const;
  std::string base_of(TensorId tensor, const std::vector<Subscript>& subscripts, const Layout& layout,
                      const std::vector<std::string>& starts) const;
  int vector_of(TensorId tensor, const std::vector<Subscript>& subscripts, const Layout& layout) const;
  void emit_load(const Inst& inst, const Load& o);
  std::optional<Exchange> exchange_before(const Store& o) const;
  void emit_store(const Store& o);
  std::string stride(TensorId tensor, std::size_t dim) const;

  // emit_copy.cpp
  void emit_copy(const CopyIn& o);
  Layout copied_rows(const CopyIn& o) const;
  void unroll_copies(const CopyIn& o, int count);
  void copy_by_rows(const CopyIn& o, const Layout& layout);
  std::string row_stride(const Load& load, AxisId row) const;
  void copy_by_elements(const CopyIn& o);

  // emit_rescale.cpp
  void emit_rescale(const Inst& inst, const Binary& o);

  // emit_sources.cpp
  std::string name_before_loop(ValueId id) const;
  void declare_sources(const Inst& loop);

  // emit_shared.cpp
  const Channel& channel(ValueId id) const { return channels_.at(id); }
  std::string ticket(const Slot& slot) const;
  std::string part_offset(const Slot& slot) const;
  std::string slot_offset(const Slot& slot) const;  ///< bytes from the start of shared memory
  std::string slot_pointer(const Slot& slot) const;
  /// The axis that the lanes of a channel's axis are seen as.
  static AxisId seen_as(const Slot& slot, AxisId axis) { return axis == slot.part.of ? slot.part.to : axis; }
  std::vector<int> channel_strides(ValueId id) const;  ///< in elements, of the axes in the channel's order
  int atom_bytes(ValueId channel) const;
  std::string coordinate_sum(const Slot& slot, const Layout& layout, bool thread, bool rows) const;
  std::string shared_base(const Slot& slot, const Layout& layout) const;
  std::string shared_step(const Slot& slot, const Layout& layout) const;
  std::string swizzled_place(ValueId channel, const std::string& row, const std::string& column) const;
  void emit_write_shared(const WriteShared& o);
  void emit_read_shared(const Inst& inst, const ReadShared& o);
  void write_scalar(const WriteShared& o);
  void read_scalar(ValueId result, const Slot& from);

  // emit_matrix.cpp
  bool moves_as_matrices(const Slot& slot, const Type& type) const;
  void emit_matrices(const Slot& slot, ValueId tile, bool write);

  // emit_reduce.cpp
  struct Folded {
    std::string name;
    const Layout& layout;
    DType dtype;
  };
  void fold_registers(ReduceFn fn, ValueId operand, AxisId axis, const Folded& to);
  void fold_lanes(ReduceFn fn, const Layout& from, AxisId axis, const std::string& result, int count);
  void emit_reduce(const Inst& inst, ReduceFn fn, ValueId operand, AxisId axis);
  std::vector<PartialSum> defer_lanes(const Inst& loop);
  void fold_deferred(const PartialSum& sum);  ///< after the loop

  // emit_dot.cpp
  struct Fragment;
  Fragment fragment(const Slot& slot, AxisId contracted, const Layout& accumulator, const char* name) const;
  void fetch(const Fragment& f, int step);
  void emit_dot(const Inst& inst, const DotShared& o);

  // warp_operand.cpp
  struct WarpOperand;
  WarpOperand warp_operand(const Slot& slot, AxisId contracted, const Layout& accumulator, bool first,
                           bool pairs) const;
  bool is_transposed(const Slot& slot, AxisId contracted) const;  ///< an operand of a dot

  // emit_mma.cpp
  struct WarpDot;
  WarpDot warp_dot(const Inst& inst) const;
  void round_operand(Precision precision, const std::string& words, const char* rests, int count);
  void multiply_block(const DotShared& o, const std::string& sums, const std::string& columns, bool pairs);
  void read_blocks(const WarpOperand& o, const std::string& words, const char* step);
  void read_first_rows(const Inst& inst);     ///< of a dot, where it stands or before
  void read_first_columns(const Inst& inst);  ///< the same
  void prepare_rows(const WarpDot& dot);
  void multiply_part(const WarpDot& dot, const std::string& sums);
  void emit_mma(const Inst& inst, const DotShared& o);

  // emit_trailing_dot.cpp
  struct TrailingDot;
  TrailingDot trailing(const Inst& inst, int later) const;
  const Inst* crosses_barrier(const Loop& o) const;  ///< the dot whose last step does; nullptr: none
  void declare_addresses(const TrailingDot& dot);
  void read_step(const TrailingDot& dot, const char* step);
  void multiply_step(const TrailingDot& dot, const std::string& step);
  void read_first_step(const Inst& inst);        ///< before the loop
  void multiply_all_but_last(const Inst& inst);  ///< where the dot stands
  void multiply_last_step(const Inst& inst);     ///< at the end of the body

  // emit_roles.cpp
  void begin(const std::string& rest);
  void emit_roles(const Roles& o);
  void emit_role(const Role& role, int first_warp);
  bool needs_leader(const Role& role) const;
  bool releases_in_cluster(const Role& role) const;
  void emit_registers(const Role& role);
  bool clusters() const { return !p_.launch.cluster.alone(); }
  void emit_barrier();
  void emit_turn(bool take);

  // emit_channel.cpp
  ValueId root(ValueId channel) const;
  void emit_pass(const PassSlot& o);
  void emit_skip(const Slot& slot);
  void emit_release(const Slot& slot);
  std::string mbarrier(const Slot& slot, bool full, const char* base = "base") const;
  std::string uses(const Slot& slot) const;
  int map_of(TensorId tensor, const Slot& slot, const std::vector<Subscript>& subscripts);
  std::string coordinates(const Slot& slot, const std::vector<Subscript>& subscripts, int atom) const;
  int atoms(const Slot& slot) const;
  void emit_copy_bulk(const CopyIn& o);
  void emit_copy_out(const CopyOut& o);
  void emit_by_leader(const std::string& statement);

  // emit_wgmma.cpp
  struct Operand;
  Operand operand(const Slot& slot, AxisId contracted) const;
  void emit_issue(const Inst& inst, const IssueDot& o);
  void accumulator(const Inst& inst, const IssueDot& o);
  std::optional<ValueId> spent_parameter(const Inst& inst) const;
  std::string declared_dot(DType dtype, int columns, bool registers, bool a_major, bool b_major);
  void emit_fence_dots(const Inst& inst);
  void emit_wait_dots(const Inst& inst, const WaitDots& o);

  const Program& p_;
  const Facts& facts_;
  const Schedule& schedule_;
  std::map<ValueId, Protocol> protocols_;
  Uses uses_;
  Lifetimes lifetimes_;
  DotGroups groups_;
  std::string text_;
  int depth_ = 1;
  std::map<ValueId, std::string> names_;
  std::vector<ValueId> parameters_;                     // of the innermost loop
  std::map<std::string, std::vector<ValueId>> arrays_;  // what each has held
  std::set<ValueId> undefined_;
  std::set<ValueId> tickets_;   // of loops: these are unsigned
  std::set<ValueId> trailing_;  // of dots whose last step crosses the barrier
  std::map<const CopyIn*, Source> sources_;
  EarlyReads early_;
  std::set<ValueId> rows_read_, columns_read_;  // of dots, before these stand
  std::set<const Inst*> partial_;               // reductions whose lanes meet after a loop
  std::map<ValueId, ValueId> handed_over_;      // of what an open loop's body yields: the parameter
  std::map<ValueId, Channel> channels_;
  std::map<ValueId, Index> indices_;
  std::set<ValueId> numbers_;  // scalars of the call
  std::vector<TensorMap> maps_;
  std::map<std::string, std::string> dots_;  // declarations by name
  const Role* role_ = nullptr;               // whose body is printed
  int next_barrier_ = 1;                     // 0 is the block's
  int own_barrier_ = 0;                      // the first of the role's instances
  int first_turn_ = 0;
};

/// "float", "bf16", "int64"
std::string c_type(DType dtype);

}  // namespace tessera::codegen
