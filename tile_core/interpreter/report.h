#pragma once
#include <initializer_list>
#include <string>

#include "tile_core/ir/program.h"

namespace tessera::interpreter {

struct Instance;

/// One of the two sides of an error: an instruction, and who executed it. Shown where there is one.
struct Side {
  const char* label;
  const Inst* inst = nullptr;
  const Instance* by = nullptr;
};

/// "TEXT   --> FILE:LINE"
std::string located(const Program& program, const Inst& inst);
/// Throws InternalError: what is wrong, and below it for each side "LABEL: TEXT   --> FILE:LINE", inside a
/// role with its name after the label.
[[noreturn]] void fail(const Program& program, const std::string& what, std::initializer_list<Side> sides);

}  // namespace tessera::interpreter
