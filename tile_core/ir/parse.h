#pragma once
#include <string_view>

#include "tile_core/ir/program.h"

namespace tessera {

/// The program that to_text() wrote, values numbered in order of definition: parse(to_text(p)) ==
/// renumbered(p). Whoever writes by hand may name values (%sum) and comment (// to the end of a line):
/// neither is kept. `file` is a literal that names the text, in errors and as the place of every instruction.
/// Throws UserError with the line, the column and what was expected there. What the operations mean together
/// is verify()'s to check.
Program parse(std::string_view text, const char* file = "program text");

}  // namespace tessera
