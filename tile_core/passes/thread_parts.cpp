#include "tile_core/passes/thread_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"

namespace tessera {
namespace {

// A thread has 255 registers; what operators offer holds 256 elements of a tile at most, and makes 64 copies.
constexpr int kMostElements = 1024, kMostCopies = 256;

/// The tile of which a thread has the most.
struct Largest {
  int count = 0;
  Type type;
  int threads = 0;

  void take(int other, const Type& other_type, int other_threads) {
    if (other > count) *this = {other, other_type, other_threads};
  }
};

class Parts {
 public:
  explicit Parts(const Program& program) : p_(program) { look(program.body, program.launch.warps * kLanes); }

  Largest elements, copies, sums;

 private:
  void look(const Block& block, int threads) {
    for (const Inst& inst : block.insts) {
      if (const Roles* roles = std::get_if<Roles>(&inst.op)) {
        for (const Role& role : roles->roles) look(role.body, role.warps * kLanes);
        continue;
      }
      for (ValueId id : inst.results) {
        const Type& type = p_.type(id);
        if (!type.is_channel() && !type.axes.empty())
          elements.take(type.layout.count(Place::reg), type, threads);
      }
      if (const CopyIn* copy = std::get_if<CopyIn>(&inst.op)) look(*copy, threads);
      if (std::holds_alternative<IssueDot>(inst.op)) look_at_sums(p_.type(inst.result()), threads);
      for_each_block(inst.op, [&](const Block& inner) { look(inner, threads); });
    }
  }

  void look(const CopyIn& copy, int threads) {
    if (copy.kind != CopyKind::async) return;
    const Type& type = p_.type(copy.to.channel);
    const int at_once = copy.vector * threads;
    copies.take(static_cast<int>((tessera::elements(p_, type) + at_once - 1) / at_once), type, threads);
  }

  /// One instruction is of 64 rows, two of each thread's.
  void look_at_sums(const Type& type, int threads) {
    constexpr int kRowsOfThread = 2;
    for (AxisId axis : type.axes) {
      if (type.layout.count(Place::warp, axis) == 1) continue;
      const int instructions = type.layout.count(Place::reg, axis) / kRowsOfThread;
      sums.take(type.layout.count(Place::reg) / instructions, type, threads);
    }
  }

  const Program& p_;
};

std::string tile_text(const Program& program, const Type& type) {
  return to_text(program, Type{.dtype = type.dtype, .axes = type.axes});
}

std::string too_many(const Program& program, const Largest& part, int most, const char* what,
                     const char* help) {
  if (part.count <= most) return "";
  return fmt::format(
      "{} is {} {} each of {} threads, and {} are the most: take smaller tiles, more warps, or {}",
      tile_text(program, part.type), part.count, what, part.threads, most, help);
}

/// What ptxas 13.0 gives a thread of a kernel, and what it wants for a dot besides its sums.
std::string sums_beyond_registers(const Program& program, const Largest& sums, const PassContext& c) {
  constexpr int kGranularity = 8, kBesideSums = 26;
  const int blocks = std::max(c.schedule.blocks, 1);
  const int registers =
      c.target.registers_sm / (blocks * program.launch.warps * kLanes) / kGranularity * kGranularity;
  if (sums.count == 0 || sums.count + kBesideSums <= registers) return "";
  return fmt::format(
      "{} blocks of {} warps leave {} registers a thread, and the dot that makes {} needs {} for its sums "
      "and {} more: take fewer columns, fewer groups or fewer blocks",
      blocks, program.launch.warps, registers, tile_text(program, sums.type), sums.count, kBesideSums);
}

}  // namespace

ThreadPart largest_thread_part(const Program& program) {
  const Parts parts(program);
  return {.elements = parts.elements.count, .copies = parts.copies.count, .sums = parts.sums.count};
}

std::vector<BrokenRule> broken_thread_rules(const Program& program, const PassContext& context) {
  const Parts parts(program);
  const BrokenRule rules[] = {
      {"threads hold parts of tiles",
       too_many(program, parts.elements, kMostElements, "elements in",
                "extents that a larger power of two divides: threads share those")},
      {"threads copy parts of tiles", too_many(program, parts.copies, kMostCopies, "copies by",
                                               "a tensor whose rows are contiguous and aligned")},
      {"dots fit the registers", sums_beyond_registers(program, parts.sums, context)},
  };
  std::vector<BrokenRule> broken;
  std::ranges::copy_if(rules, std::back_inserter(broken),
                       [](const BrokenRule& rule) { return !rule.sentence.empty(); });
  return broken;
}

}  // namespace tessera
