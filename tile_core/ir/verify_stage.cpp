#include <array>
#include <string_view>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

/// The stages in which an operation may stand, in the order of Op.
struct Allowed {
  std::string_view operation;
  Stage first = Stage::tile;
  Stage last = Stage::ready;
};
constexpr std::array kOperations = {
    Allowed{"constant"},
    Allowed{"scalar"},
    Allowed{"size"},
    Allowed{"index"},
    Allowed{"start", Stage::tile, Stage::tile},
    Allowed{"end"},
    Allowed{"block_index", Stage::mapped},
    Allowed{"block_count", Stage::mapped},
    Allowed{"cluster_index", Stage::mapped},
    Allowed{"cluster_count", Stage::mapped},
    Allowed{"cluster_rank", Stage::mapped},
    Allowed{"undefined"},
    Allowed{"broadcast"},
    Allowed{"slice", Stage::laid_out},
    Allowed{"unary"},
    Allowed{"binary"},
    Allowed{"fma"},
    Allowed{"select"},
    Allowed{"cast"},
    Allowed{"reduce"},
    Allowed{"dot", Stage::tile, Stage::roled},
    Allowed{"load"},
    Allowed{"store"},
    Allowed{"loop"},
    Allowed{"if", Stage::roled},
    Allowed{"convert", Stage::placed, Stage::roled},
    Allowed{"roles", Stage::roled},
    Allowed{"channel", Stage::roled},
    Allowed{"view", Stage::roled, Stage::roled},
    Allowed{"copy", Stage::roled},
    Allowed{"commit_copies", Stage::device},
    Allowed{"wait_copies", Stage::synced},
    Allowed{"barrier", Stage::synced},
    Allowed{"pass_slot", Stage::roled},
    Allowed{"write_shared", Stage::roled},
    Allowed{"read_shared", Stage::roled},
    Allowed{"fence_shared", Stage::device},
    Allowed{"copy_out", Stage::device},
    Allowed{"commit_stores", Stage::device},
    Allowed{"wait_stores", Stage::device},
    Allowed{"dot_shared", Stage::device},
    Allowed{"issue_dot", Stage::device},
    Allowed{"fence_dots", Stage::device},
    Allowed{"commit_dots", Stage::device},
    Allowed{"wait_dots", Stage::device},
    Allowed{"take_turn", Stage::roled},
    Allowed{"pass_turn", Stage::roled},
    Allowed{"draw_tile", Stage::roled},
    Allowed{"reduce_warp", Stage::device},
};
static_assert(kOperations.size() == std::variant_size_v<Op>);

/// Calls `visit(axis, start)` for every axis whose first index an instruction says or implies.
template <typename Visit>
void for_each_start(const Inst& inst, Visit&& visit) {
  auto subscripts = [&](const std::vector<Subscript>& list) {
    for (const Subscript& s : list) {
      if (s.axis != AxisId::none) visit(s.axis, s.value);
    }
  };
  if (const auto* o = std::get_if<Index>(&inst.op)) visit(o->axis, o->start);
  if (const auto* o = std::get_if<End>(&inst.op)) visit(o->axis, o->start);
  if (const auto* o = std::get_if<Loop>(&inst.op); o != nullptr && o->axis != AxisId::none)
    visit(o->axis, o->start);
  if (const auto* o = std::get_if<Load>(&inst.op)) subscripts(o->subscripts);
  if (const auto* o = std::get_if<Store>(&inst.op)) subscripts(o->subscripts);
  if (const auto* o = std::get_if<CopyIn>(&inst.op)) subscripts(o->load.subscripts);
  if (const auto* o = std::get_if<CopyOut>(&inst.op)) subscripts(o->subscripts);
}

void starts_are_implied(const Program& p, const Inst& inst) {
  for_each_start(inst, [&](AxisId axis, ValueId start) {
    if (start != ValueId::none)
      fail_verify(p, inst, fmt::format("the start of axis '{}' is a value already", p.axis(axis).name));
  });
}

void starts_are_values(const Program& p, const Inst& inst) {
  for_each_start(inst, [&](AxisId axis, ValueId start) {
    if (start == ValueId::none)
      fail_verify(p, inst, fmt::format("the start of axis '{}' is not a value yet", p.axis(axis).name));
  });
}

void loops_have_an_axis(const Program& p, const Inst& inst) {
  const Loop* loop = std::get_if<Loop>(&inst.op);
  if (loop != nullptr && loop->axis == AxisId::none) fail_verify(p, inst, "the loop has no axis yet");
}

void loops_have_no_ticket(const Program& p, const Inst& inst) {
  const Loop* loop = std::get_if<Loop>(&inst.op);
  if (loop != nullptr && loop->ticket != ValueId::none) fail_verify(p, inst, "the loop has a ticket already");
}

void nothing_is_pending(const Program& p, const Inst& inst) {
  for_each_definition(inst, [&](ValueId id) {
    if (p.type(id).pending) fail_verify(p, inst, name_of(p, id) + " is pending already");
  });
}

void nothing_is_placed(const Program& p, const Inst& inst) {
  for_each_definition(inst, [&](ValueId id) {
    if (p.type(id).space != Space::anywhere) fail_verify(p, inst, name_of(p, id) + " is placed already");
  });
}

/// Scalars and channels have no place of their own.
bool has_place(const Type& type) {
  return !type.axes.empty() && !type.is_channel();
}

void tiles_are_placed(const Program& p, const Inst& inst) {
  for_each_definition(inst, [&](ValueId id) {
    const Type& type = p.type(id);
    if (has_place(type) == (type.space != Space::anywhere)) return;
    fail_verify(p, inst, name_of(p, id) + (has_place(type) ? " is not placed yet" : " needs no place"));
  });
}

/// Tiles in shared memory are written by loads and conversions, or slots; carried by loops; and read by dots
/// and conversions.
void shared_tiles_go_to_dots(const Program& p, const Inst& inst) {
  bool loop = std::holds_alternative<Loop>(inst.op);
  bool convert = std::holds_alternative<Convert>(inst.op);
  const Dot* dot = std::get_if<Dot>(&inst.op);
  for_each_definition(inst, [&](ValueId id) {
    if (p.type(id).space != Space::shared || loop || convert || holds_any<Load, View>(inst.op)) return;
    fail_verify(p, inst, name_of(p, id) + " cannot be made in shared memory");
  });
  for_each_operand(inst.op, [&](ValueId id) {
    bool multiplied = dot != nullptr && dot->accumulator != id;
    if (p.type(id).space != Space::shared || loop || convert || multiplied) return;
    fail_verify(p, inst, name_of(p, id) + " is in shared memory, but the operation takes registers");
  });
}

void tiles_are_in_registers(const Program& p, const Inst& inst) {
  for_each_definition(inst, [&](ValueId id) {
    if (p.type(id).space == Space::shared)
      fail_verify(p, inst, name_of(p, id) + " is a tile in shared memory");
  });
}

void tiles_have_no_layout(const Program& p, const Inst& inst) {
  for_each_definition(inst, [&](ValueId id) {
    if (!p.type(id).layout.empty()) fail_verify(p, inst, name_of(p, id) + " has a layout already");
  });
}

void only_channels_have_slots(const Program& p, const Inst& inst) {
  for_each_definition(inst, [&](ValueId id) {
    if (p.type(id).is_channel() == std::holds_alternative<Channel>(inst.op)) return;
    fail_verify(p, inst, name_of(p, id) + (p.type(id).is_channel() ? " is a channel" : " is not a channel"));
  });
}

/// The stages in which a rule about attributes holds.
struct Rule {
  Stage first;
  Stage last;
  void (*check)(const Program& program, const Inst& inst);
};
constexpr std::array kAttributes = {
    Rule{Stage::tile, Stage::tile, starts_are_implied},
    Rule{Stage::mapped, Stage::ready, starts_are_values},
    Rule{Stage::tile, Stage::tile, loops_have_an_axis},
    Rule{Stage::tile, Stage::laid_out, loops_have_no_ticket},
    Rule{Stage::tile, Stage::roled, nothing_is_pending},
    Rule{Stage::tile, Stage::masked, nothing_is_placed},
    Rule{Stage::placed, Stage::ready, tiles_are_placed},
    Rule{Stage::placed, Stage::roled, shared_tiles_go_to_dots},
    Rule{Stage::device, Stage::ready, tiles_are_in_registers},
    Rule{Stage::tile, Stage::placed, tiles_have_no_layout},
    Rule{Stage::tile, Stage::ready, only_channels_have_slots},
};

}  // namespace

void verify_stage(const Program& program, const Inst& inst) {
  const Allowed& allowed = kOperations.at(inst.op.index());
  if (program.stage < allowed.first || program.stage > allowed.last) {
    std::string stages =
        fmt::format("from Stage::{} to Stage::{}", name_of(allowed.first), name_of(allowed.last));
    if (allowed.first == allowed.last) stages = fmt::format("in Stage::{}", name_of(allowed.first));
    fail_verify(program, inst, fmt::format("{} stands only {}", allowed.operation, stages));
  }
  for (const Rule& rule : kAttributes) {
    if (program.stage >= rule.first && program.stage <= rule.last) rule.check(program, inst);
  }
}

void verify_stage(const Program& program) {
  bool laid_out = program.stage >= Stage::laid_out;
  if (laid_out != (program.launch.warps > 0))
    fail_verify(program, fmt::format("the block has {} warps", program.launch.warps));
  if (program.stage < Stage::ready && program.launch.shared_bytes != 0)
    fail_verify(program, "shared memory is planned already");
}

}  // namespace tessera
