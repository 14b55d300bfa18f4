#include <numeric>

#include "tile_core/base/error.h"
#include "tile_core/codegen/emitter.h"
#include "tile_core/codegen/fragments.h"
#include "tile_core/ir/channel.h"

namespace tessera::codegen {
namespace {

constexpr int kStep = 16;    // values of the contracted axis that one instruction takes
constexpr int kElement = 2;  // bytes
constexpr int kUnit = 16;    // bytes that addresses and strides of a descriptor count in

/// PTX ISA, "wgmma: Matrix Descriptor Format": bits 62 and 63.
unsigned swizzle_mode(int width) {
  return width == 128 ? 1 : width == 64 ? 2 : 3;
}

std::string plus(const std::string& text, int offset) {
  return offset == 0 ? text : fmt::format("{} + {}", text, offset);
}

}  // namespace

/// An operand in shared memory. Its atoms are `width` bytes of lines: along the contracted axis where that is
/// contiguous, else along the free axis.
struct Emitter::Operand {
  bool major = false;  ///< the free axis is contiguous
  int width = 0;
  int atom = 0;  ///< bytes
  std::string offset;

  /// What the low word has besides the address: the stride from atom to atom along a contiguous free axis.
  std::string low() const { return major ? fmt::format(" + {:#x}", atom / kUnit << 16) : ""; }
  /// Groups of 8 lines stand one after another.
  unsigned high() const {
    return static_cast<unsigned>(kPatternRows * width / kUnit) | swizzle_mode(width) << 30;
  }
  /// In units, from the operand's start to `free` of its free axis and `contracted` of the other.
  int at(int free, int contracted) const {
    int line = major ? contracted : free;
    int bytes = (major ? free : contracted) * kElement;
    return (bytes / width * atom + line * width + bytes % width) / kUnit;
  }
};

Emitter::Operand Emitter::operand(const Slot& slot, AxisId contracted) const {
  const Channel& c = channel(slot.channel);
  if (c.swizzle == 0 || c.order.size() != 2) fail("an issued dot reads matrices in swizzled slots");
  return {.major = seen_as(slot, c.order.back()) != contracted,
          .width = c.swizzle,
          .atom = atom_bytes(slot.channel),
          .offset = slot_offset(slot)};
}

/// The declaration of the instruction that the dot needs; returns its name.
std::string Emitter::declared_dot(DType dtype, int columns, bool registers, bool a_major, bool b_major) {
  std::string name = fmt::format("dot_of_{}_n{}_{}{}{}", registers ? "registers" : "slots", columns,
                                 c_type(dtype), a_major ? "_a_major" : "", b_major ? "_b_major" : "");
  int count = columns / 2;
  std::string numbers, list;
  for (int i = 0; i < count; ++i) {
    numbers += fmt::format("{}%{}", i > 0 ? ", " : "", i);
    list += fmt::format(", D({})", i);
  }
  int operands = registers ? 6 : 3;
  std::string after;
  for (int i = 0; i < operands; ++i) after += fmt::format(", {}", count + i);
  dots_[name] = fmt::format("TESSERA_DOT_OF_{}({}, {}, {}, \"{}\"{}{}, {:d}{})\n",
                            registers ? "REGISTERS" : "SLOTS", name, columns, c_type(dtype), numbers, after,
                            registers ? "" : fmt::format(", {:d}", a_major), b_major, list);
  return name;
}

/// The result lives where the next iteration wants it, since a pending tile cannot move; else in the
/// accumulator's array where that is not needed any more.
void Emitter::accumulator(const Inst& inst, const IssueDot& o) {
  ValueId id = inst.result();
  bool given = o.accumulator != ValueId::none;
  bool defined = given && !undefined_.contains(o.accumulator);
  bool pending = given && p_.type(o.accumulator).pending;
  auto next = handed_over_.find(id);
  bool goes_on = next != handed_over_.end() && is_free_after(inst, next->second);
  bool moves = goes_on && given && !pending && name(next->second) != name(o.accumulator);
  if (given && !moves && is_free_after(inst, o.accumulator)) return share(id, o.accumulator);
  if (defined && pending) fail("a pending accumulator is needed after its dot");
  const std::optional<ValueId> spent = given || goes_on ? std::nullopt : spent_parameter(inst);
  if (spent) return share(id, *spent);
  if (goes_on) {
    share(id, next->second);
  } else {
    declare(id);
  }
  if (defined) return assign(name(id), id, name(o.accumulator));
  line("discard({});", name(id));
}

/// A tile of the result's size that a loop carries and this iteration has used up. In its registers the dot
/// follows what reads them: elsewhere ptxas would let it overtake, and keep both tiles.
std::optional<ValueId> Emitter::spent_parameter(const Inst& inst) const {
  const Type& type = p_.type(inst.result());
  auto fits = [&](ValueId id) {
    const Type& other = p_.type(id);
    return is_tile(id) && other.dtype == type.dtype && !other.pending &&
           registers(id) == registers(inst.result()) && is_free_after(inst, id);
  };
  auto found = std::find_if(parameters_.begin(), parameters_.end(), fits);
  return found == parameters_.end() ? std::nullopt : std::optional(*found);
}

void Emitter::emit_issue(const Inst& inst, const IssueDot& o) {
  accumulator(inst, o);
  std::optional<Fragments> f = fragments_of(p_.type(inst.result()).layout);
  if (!f.has_value() || threads() != 128) fail("an issued dot's result is not a warpgroup's fragments");
  bool registers = o.a.value != ValueId::none;
  Operand b = operand(o.b, o.axis);
  Operand a = registers ? Operand{} : operand(o.a.slot, o.axis);
  DType dtype = p_.type(o.b.channel).dtype;
  std::string function = declared_dot(dtype, f->column_count, registers, a.major, b.major);
  bool fresh = o.accumulator == ValueId::none;
  std::string first = o.accumulate != ValueId::none ? name(o.accumulate) : fresh ? "0" : "1";

  open("");
  const char* address = clusters() ? "within_block" : "";
  if (!registers) line("const unsigned a = {}(base + {}) / {}{};", address, a.offset, kUnit, a.low());
  line("const unsigned b = {}(base + {}) / {}{};", address, b.offset, kUnit, b.low());
  int contracted = p_.axis(o.axis).extent;
  for (int k = 0; k < contracted; k += kStep) {
    for (int block = 0; block < f->blocks(); ++block) {
      std::string left = registers ? plus(name(o.a.value), block * contracted / 2 + k / 2)
                                   : fmt::format("descriptor<{:#x}>({})", a.high(),
                                                 plus("a", a.at(block * Fragments::kRows, k)));
      line("{}({}, {}, descriptor<{:#x}>({}), {});", function,
           plus(name(inst.result()), block * f->registers_of_block()), left, b.high(), plus("b", b.at(0, k)),
           k == 0 ? first : "1");
    }
  }
  close();
}

/// The registers that the group's dots read or update are written before the fence.
void Emitter::emit_fence_dots(const Inst& inst) {
  std::set<std::string> tiles;
  for (const IssueDot* dot : groups_.fenced(inst)) {
    for (ValueId id : {dot->a.value, dot->accumulator}) {
      if (id == ValueId::none || !names_.contains(id)) continue;
      if (!p_.type(id).pending && !undefined_.contains(id)) tiles.insert(name(id));
    }
  }
  for (const std::string& tile : tiles) line("pin({});", tile);
  line("fence_dots();");
}

void Emitter::emit_wait_dots(const Inst& inst, const WaitDots& o) {
  line("wait_dots<{}>();", o.pending);
  for (std::size_t i = 0; i < o.values.size(); ++i) {
    share(inst.results[i], o.values[i]);
    line("pin({});", name(o.values[i]));
  }
  for (ValueId id : groups_.retired(inst)) line("pin({});", name(id));
}

}  // namespace tessera::codegen
