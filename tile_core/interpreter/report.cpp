#include "tile_core/interpreter/report.h"

#include "tile_core/base/error.h"
#include "tile_core/interpreter/instance.h"
#include "tile_core/ir/print.h"

namespace tessera::interpreter {

std::string located(const Program& program, const Inst& inst) {
  return fmt::format("{}   --> {}:{}", to_text(program, inst), inst.loc.file, inst.loc.line);
}

void fail(const Program& program, const std::string& what, std::initializer_list<Side> sides) {
  std::string text;
  for (const Side& side : sides) {
    if (side.inst == nullptr) continue;
    text += fmt::format("\n   {}", side.label);
    if (side.by != nullptr && side.by->role != nullptr) text += ", " + side.by->name;
    text += ": " + located(program, *side.inst);
  }
  throw InternalError::format("interpreter: {}: {}{}", program.name, what, text);
}

}  // namespace tessera::interpreter
