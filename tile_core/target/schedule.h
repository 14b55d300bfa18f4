#pragma once
#include <string>
#include <vector>

#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/target.h"

namespace tessera {

/// How a program is mapped to the machine; the program says what. Every field's default, `kAutomatic`, leaves
/// the decision to the compiler.
struct Schedule {
  static constexpr int kAutomatic = 0;

  int stages = kAutomatic;  ///< tiles in flight of the operands that a pipelined loop streams, 1 to 8
  int warps = kAutomatic;   ///< per block, 1 to 32, a power of two
  int blocks = kAutomatic;  ///< blocks that must fit on one multiprocessor, 1 to 16: bounds the registers
  int vector = kAutomatic;  ///< bytes of one access to global memory at the most: 1, 2, 4, 8 or 16

  bool operator==(const Schedule&) const = default;
};

/// "stages=2 warps=8", the fields that are not automatic; "automatic" where all are.
std::string to_text(const Schedule& schedule);
/// Reads to_text back; throws UserError that lists the fields.
Schedule schedule_from_text(const std::string& text);

/// One broken rule of a schedule: its name and a sentence with the numbers.
struct BrokenRule {
  std::string rule;
  std::string sentence;
};

/// Every rule that the schedule breaks for this program on this target; empty: legal.
std::vector<BrokenRule> illegal(const Program& program, const Facts& facts, const Schedule& schedule,
                                const Target& target);

}  // namespace tessera
