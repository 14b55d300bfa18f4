#include "tile_core/passes/thread_parts.h"

#include <fmt/format.h>

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

  Largest elements, copies;

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
      for_each_block(inst.op, [&](const Block& inner) { look(inner, threads); });
    }
  }

  void look(const CopyIn& copy, int threads) {
    if (copy.kind != CopyKind::async) return;
    const Type& type = p_.type(copy.to.channel);
    const int at_once = copy.vector * threads;
    copies.take(static_cast<int>((tessera::elements(p_, type) + at_once - 1) / at_once), type, threads);
  }

  const Program& p_;
};

}  // namespace

ThreadPart largest_thread_part(const Program& program) {
  const Parts parts(program);
  return {.elements = parts.elements.count, .copies = parts.copies.count};
}

std::vector<BrokenRule> broken_thread_rules(const Program& program) {
  const Parts parts(program);
  std::vector<BrokenRule> broken;
  const auto check = [&](const Largest& part, int most, const char* rule, const char* what,
                         const char* help) {
    if (part.count <= most) return;
    const Type tile{.dtype = part.type.dtype, .axes = part.type.axes};
    broken.push_back({rule, fmt::format("{} is {} {} each of {} threads, and {} are the most: {}",
                                        to_text(program, tile), part.count, what, part.threads, most, help)});
  };
  check(parts.elements, kMostElements, "threads hold parts of tiles", "elements in",
        "take smaller tiles, more warps, or extents that a larger power of two divides: threads share those");
  check(parts.copies, kMostCopies, "threads copy parts of tiles", "copies by",
        "take smaller tiles or more warps, or make the tensor's rows contiguous and aligned");
  return broken;
}

}  // namespace tessera
