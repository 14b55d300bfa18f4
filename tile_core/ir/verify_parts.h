#pragma once
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "tile_core/ir/program.h"

/// The parts of verify(), one file each.
namespace tessera {

/// Throws InternalError: what is wrong, the stage, the instruction's text and where it was written.
[[noreturn]] void fail_verify(const Program& program, const Inst& inst, const std::string& what);
[[noreturn]] void fail_verify(const Program& program, const std::string& what);

/// Definitions before uses, once, in scope.
void verify_definitions(const Program& program);
/// The types of an instruction's operands and results, apart from place and layout.
void verify_types(const Program& program, const Inst& inst);
/// Which operations and attributes the stage allows.
void verify_stage(const Program& program);
void verify_stage(const Program& program, const Inst& inst);
/// What threads hold, where `warps` run the instruction: from Stage::laid_out on.
void verify_layouts(const Program& program, const Inst& inst, int warps);
/// How the block's warps are split, and what each role may do: from Stage::roled on.
void verify_roles(const Program& program);
/// Channels by value. They stand at a program's top, since shared memory is the whole block's.
using Channels = std::map<ValueId, const Channel*>;
Channels channels_of(const Program& program);
/// Channels, and who reads, writes, copies and passes their slots: from Stage::roled on.
void verify_channels(const Program& program);
void verify_slots(const Program& program);
/// Who owns slots and turns, on every way through a role: from Stage::roled on.
void verify_passing(const Program& program);
/// Outputs that tiles are added to: each tile once, whoever has it, and none is stored there.
void verify_accumulation(const Program& program);
/// Tiles that are drawn from a counter: each once, and all roles have the same.
void verify_drawing(const Program& program);
/// Blocks of a cluster, and the copies that they share.
void verify_cluster(const Program& program);
/// Places in shared memory: of Stage::ready.
void verify_plan(const Program& program);
/// The order of dots, their fences, groups and waits: from Stage::device on.
void verify_dots(const Program& program);

}  // namespace tessera
