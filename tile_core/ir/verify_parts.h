#pragma once
#include <algorithm>
#include <fmt/format.h>
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
/// What threads hold: from Stage::laid_out on.
void verify_layouts(const Program& program, const Inst& inst);
/// Channels, their slots and their places in shared memory: from Stage::device on.
void verify_shared(const Program& program);

}  // namespace tessera
