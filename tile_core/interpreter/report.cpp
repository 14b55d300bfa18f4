#include "tile_core/interpreter/report.h"

#include "tile_core/base/error.h"
#include "tile_core/interpreter/instance.h"
#include "tile_core/ir/print.h"

namespace tessera::interpreter {

std::string to_text(const Program& program, const Side& side) {
  if (side.inst == nullptr) return "";
  bool in_role = side.by != nullptr && side.by->role != nullptr;
  return fmt::format("\n   {}{}{}: {}   --> {}:{}", side.label, in_role ? ", " : "",
                     in_role ? side.by->name : "", tessera::to_text(program, *side.inst), side.inst->loc.file,
                     side.inst->loc.line);
}

void fail(const Program& program, const std::string& what, std::initializer_list<Side> sides) {
  std::string text;
  for (const Side& side : sides) text += to_text(program, side);
  throw InternalError::format("interpreter: {}: {}{}", program.name, what, text);
}

}  // namespace tessera::interpreter
