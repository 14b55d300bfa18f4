#pragma once
#include <string>

#include "tile_core/ir/program.h"

namespace tessera {

/// The program as text; parse() reads it back. Values are numbered in the order of definition, so that equal
/// programs print alike.
std::string to_text(const Program& program);

/// One instruction of the program and one value, as they stand in that text; of a loop, the line that opens
/// it.
std::string to_text(const Program& program, const Inst& inst);
std::string name_of(const Program& program, ValueId id);

/// "bf16[m:128, k:64]", with place and layout where a pass has set them.
std::string to_text(const Program& program, const Type& type);
std::string to_text(const Program& program, const Layout& layout);

}  // namespace tessera
