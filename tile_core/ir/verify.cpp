#include "tile_core/ir/verify.h"

#include <set>
#include <string_view>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

template <typename Table>
void unique_names(const Program& program, const Table& table, std::string_view kind) {
  std::set<std::string_view> names;
  for (const auto& entry : table) {
    if (!names.insert(entry.name).second)
      fail_verify(program, fmt::format("two {} are named '{}'", kind, entry.name));
  }
}

void verify_tables(const Program& program) {
  unique_names(program, program.dims, "dims");
  unique_names(program, program.axes, "axes");
  unique_names(program, program.tensors, "tensors");
  unique_names(program, program.scalars, "scalars");
  std::vector<AxisId> grid;
  for (std::size_t i = 0; i < program.axes.size(); ++i) {
    const AxisInfo& axis = program.axes[i];
    if (axis.extent < 1) fail_verify(program, fmt::format("axis '{}' has extent {}", axis.name, axis.extent));
    if (axis.kind == AxisKind::grid) grid.push_back(static_cast<AxisId>(i));
  }
  if (!same_axes(grid, program.grid))
    fail_verify(program, "the grid does not list each axis of kind grid once");
}

/// Of a block that `warps` run.
void verify_block(const Program& program, const Block& block, int warps) {
  for (const Inst& inst : block.insts) {
    verify_stage(program, inst);
    verify_types(program, inst);
    if (program.stage >= Stage::laid_out) verify_layouts(program, inst, warps);
    if (const Roles* roles = std::get_if<Roles>(&inst.op)) {
      for (const Role& role : roles->roles) verify_block(program, role.body, role.warps);
    } else {
      for_each_block(inst.op, [&](const Block& inner) { verify_block(program, inner, warps); });
    }
  }
}

}  // namespace

void fail_verify(const Program& program, const std::string& what) {
  throw InternalError::format("verify {}: {} (Stage::{})", program.name, what, name_of(program.stage));
}

void fail_verify(const Program& program, const Inst& inst, const std::string& what) {
  throw InternalError::format("verify {}: {} (Stage::{})\n   {}   --> {}:{}", program.name, what,
                              name_of(program.stage), to_text(program, inst), inst.loc.file, inst.loc.line);
}

void verify(const Program& program) {
  verify_tables(program);
  verify_definitions(program);
  verify_stage(program);
  verify_block(program, program.body, program.launch.warps);
  verify_cluster(program);
  verify_accumulation(program);
  verify_drawing(program);
  if (program.stage < Stage::roled) return;
  verify_roles(program);
  verify_channels(program);
  verify_slots(program);
  verify_passing(program);
  if (program.stage >= Stage::device) verify_dots(program);
  if (program.stage == Stage::ready) verify_plan(program);
}

}  // namespace tessera
