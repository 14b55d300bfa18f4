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

/// "\n   LABEL: TEXT   --> FILE:LINE", inside a role with its name after the label.
std::string to_text(const Program& program, const Side& side);
/// Throws InternalError: what is wrong, and the sides one below the other.
[[noreturn]] void fail(const Program& program, const std::string& what, std::initializer_list<Side> sides);

}  // namespace tessera::interpreter
