#include "tile_core/passes/pipeline.h"

#include "tile_core/base/dump.h"
#include "tile_core/base/env.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify.h"
#include "tile_core/passes/cluster.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/thread_parts.h"
#include "tile_core/target/digest.h"

namespace tessera {
namespace {

constexpr Pass kPipeline[] = {
    {"simplify", simplify, Stage::tile},                       // one form
    {"map_grid", map_grid, Stage::mapped},                     // blocks and starts
    {"mask_tails", mask_tails, Stage::masked},                 // the valid-lane rule becomes selects
    {"place_tiles", place_tiles, Stage::placed},               // registers or shared memory
    {"infer_layouts", infer_layouts, Stage::laid_out},         // threads, and conversions where layouts meet
    {"pipeline_loops", pipeline_loops, Stage::laid_out},       // loads run ahead
    {"specialize_warps", specialize_warps, Stage::roled},      // who loads, who computes
    {"split_masked_loops", split_masked_loops, Stage::roled},  // masks where a tile has an edge
    {"lag_dots", lag_dots, Stage::roled},                      // a dependent dot trails
    {"lower_tiles", lower_tiles, Stage::device},               // channels, copies, reductions across warps
    {"insert_barriers", insert_barriers, Stage::synced},       // waits and barriers
    {"plan_shared_memory", plan_shared_memory, Stage::ready}   // offsets
};

/// "groups=2 share=turns": what a schedule asks of kernels whose dots are wgmma. Empty: nothing.
std::string fields_of_warpgroups(Schedule s) {
  s.stages = s.warps = s.blocks = s.vector = Schedule::kAutomatic;
  if (s.grid == Grid::once) s.grid = Grid::automatic;    // so is every other kernel's
  if (s.cluster == 1) s.cluster = Schedule::kAutomatic;  // the same
  return s == Schedule() ? "" : to_text(s);
}

void check_legal(const Program& program, const PassContext& c) {
  std::vector<BrokenRule> broken = illegal(program, c.facts, c.schedule, c.target);
  if (std::string fields = fields_of_warpgroups(c.schedule); !fields.empty()) {
    if (std::string why = why_not_wgmma(program, c); !why.empty()) {
      broken.push_back(
          {"warpgroups do dots", fmt::format("{} is for wgmma, and dots are not: {}", fields, why)});
    } else if (std::string alone = why_no_cluster(program, c); !alone.empty()) {
      broken.push_back({"blocks of a cluster share copies",
                        fmt::format("cluster is {}, but {}", c.schedule.cluster, alone)});
    }
  }
  if (!broken.empty()) throw illegal_schedule(program, c.schedule, c.target, broken);
}

void verify_after(const char* pass, const Program& program) {
  try {
    verify(program);
  } catch (const InternalError& error) {
    throw InternalError(
        fmt::format("{}\n   after pass '{}'   see: TESSERA_DUMP=pass   file: tile_core/passes/{}.cpp",
                    error.what(), pass, pass));
  }
}

}  // namespace

std::span<const Pass> pipeline() {
  return kPipeline;
}

Program lower(const Program& program, const PassContext& context,
              const std::function<void(const Pass&, const Program&)>& after) {
  check_legal(program, context);
  verify(program);
  const std::string digest =
      env::dumps("pass") ? digest_of(program, context.facts, context.schedule, context.target) : "";
  Program p = program;
  for (const Pass& pass : kPipeline) {
    p = pass.run(p, context);
    p.stage = pass.leaves;
    // Before verify: a broken result must be visible.
    dump::write("pass", program.name + "." + digest, pass.name, to_text(p));
    verify_after(pass.name, p);
    if (after) after(pass, p);
  }
  if (const std::vector<BrokenRule> broken = broken_thread_rules(p, context); !broken.empty())
    throw illegal_schedule(program, context.schedule, context.target, broken);
  return p;
}

}  // namespace tessera
