#pragma once
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/schedule.h"

namespace tessera::codegen {

/// Prints the body of one kernel: one array per tile, one unrolled loop per operation. Each emit_*.cpp file
/// holds the operations of one kind.
class Emitter {
 public:
  Emitter(const Program& program, const Facts& facts, const Schedule& schedule)
      : p_(program), facts_(facts), schedule_(schedule) {}

  std::string body();

 private:
  /// How a tile is addressed: the pointer expression's parts for element coordinates.
  struct Address {
    std::string base;                ///< elements from the tensor's start, the same for all registers
    std::string step;                ///< what register r adds
    std::string inside;              ///< the condition that the element exists
    std::vector<std::string> setup;  ///< statements that the condition needs
  };

  // emitter.cpp
  void block(const Block& block);
  void instruction(const Inst& inst);
  void loop(const Inst& inst, const Loop& o);
  void hand_over(const Loop& o);
  void assign(const std::string& to, ValueId like, const std::string& from);
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
  /// The element of `operand` for register r of a value with layout `of`.
  std::string element(ValueId operand, const Layout& of) const;
  int threads() const;

  // emit_values.cpp
  std::string literal(DType dtype, double value) const;
  std::string unary(const Unary& o, const std::string& a) const;
  std::string binary(const Binary& o, const std::string& a, const std::string& b) const;
  std::string below(const Index& index, BinaryFn fn, const std::string& bound, const Layout& layout) const;
  void pointwise(const Inst& inst, const std::string& expression);
  void emit_value(const Inst& inst);

  // emit_global.cpp
  Address address(TensorId tensor, const std::vector<Subscript>& subscripts, const Layout& layout) const;
  int vector_of(TensorId tensor, const std::vector<Subscript>& subscripts, const Layout& layout) const;
  void emit_load(const Inst& inst, const Load& o);
  void emit_store(const Store& o);
  void emit_copy(const CopyIn& o);
  std::string stride(TensorId tensor, std::size_t dim) const;

  // emit_shared.cpp
  const Channel& channel(ValueId id) const { return channels_.at(id); }
  std::string slot_pointer(const Slot& slot) const;
  std::vector<int> channel_strides(ValueId id) const;  ///< in elements, of the axes in the channel's order
  std::string shared_step(ValueId channel, const Layout& layout) const;
  std::string shared_base(ValueId channel, const Layout& layout) const;
  void emit_write_shared(const WriteShared& o);
  void emit_read_shared(const Inst& inst, const ReadShared& o);

  // emit_reduce.cpp
  void emit_reduce(const Inst& inst, ReduceFn fn, ValueId operand, AxisId axis);

  // emit_dot.cpp
  struct Fragment;
  Fragment fragment(const Slot& slot, AxisId contracted, const Layout& accumulator, const char* name) const;
  void fetch(const Fragment& f, int step);
  void emit_dot(const Inst& inst, const DotShared& o);

  const Program& p_;
  const Facts& facts_;
  const Schedule& schedule_;
  std::string text_;
  int depth_ = 1;
  std::map<ValueId, std::string> names_;
  std::map<ValueId, Channel> channels_;
  std::map<ValueId, Index> indices_;
};

/// "float", "bf16", "int64"
std::string c_type(DType dtype);

}  // namespace tessera::codegen
