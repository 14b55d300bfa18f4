#pragma once
#include <string>

#include "tile_core/interpreter/observer.h"
#include "tools/glossary.h"

namespace tessera::tools {

/// "key 1": the slot of a channel, without a number where there is one.
std::string slot_text(const Program& program, const Glossary& words, const SlotUse& use);

/// "copies input[0, 64] to input 1", what an instruction on memory or on dots does; empty for arithmetic, for
/// fences and commits, and for what passes slots and turns between roles.
std::string event_text(const Program& program, const Glossary& words, const Executed& executed);

/// "exp2", of an operation on tiles in registers; empty for any other.
std::string arithmetic_text(const Program& program, const Inst& inst);

}  // namespace tessera::tools
