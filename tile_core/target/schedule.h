#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tile_core/base/user_error.h"
#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/target.h"

namespace tessera {

/// How consumer warpgroups share the work: all on one tile, a block of its rows each; the same, their lagging
/// loops in turns, so that one's arithmetic runs under another's dots; or each on its own tile, so that one's
/// stores run under the other's dots.
enum class Share : std::uint8_t { automatic, together, turns, alternate };
/// One block for every tile, or as many as the device holds: each visits every so-many-th tile, or draws its
/// next one from a counter when it begins the one before, so that who is done sooner has more.
enum class Grid : std::uint8_t { automatic, once, persistent, counter };
/// Whether a dot that depends on another of its iteration trails by one iteration, so that it runs under the
/// arithmetic between them.
enum class Lag : std::uint8_t { automatic, none, one };
/// In which order a persistent grid visits its tiles: by number, the last axis fastest; or, where the tiles
/// along one axis differ in work, from the longest to the shortest, in sections of the other axes whose
/// operands the second-level cache holds (every second section the other way round, the last ends with the
/// shortest; of tiles that are drawn, each section begins with the longest). Where no loop's trips say that
/// the work differs, longest is plain.
enum class TileOrder : std::uint8_t { automatic, plain, longest };

/// How a program is mapped to the machine; the program says what. Every field's default, `kAutomatic`, leaves
/// the decision to the compiler.
struct Schedule {
  static constexpr int kAutomatic = 0;

  int stages = kAutomatic;  ///< tiles in flight of the operands that a pipelined loop streams, 1 to 8
  int warps = kAutomatic;   ///< per block, 1 to 32, a power of two
  int blocks = kAutomatic;  ///< blocks that must fit on one multiprocessor, 1 to 16: bounds the registers
  int vector = kAutomatic;  ///< bytes of one access to global memory at the most: 1, 2, 4, 8 or 16
  // Where dots are wgmma:
  int groups = kAutomatic;  ///< consumer warpgroups, 1 to 4
  Share share = Share::automatic;
  Grid grid = Grid::automatic;
  Lag lag = Lag::automatic;
  int raster = kAutomatic;  ///< rows of tiles that one wave of blocks sweeps, 1 to 64
  TileOrder order = TileOrder::automatic;
  /// Blocks of a cluster, 1 or 2: neighbours along the grid axis that most of what loops stream does not
  /// depend on. What both would copy each copies one half of, to both.
  int cluster = kAutomatic;

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
/// What to throw where it breaks some: the schedule, the program, the target, and each rule with its
/// sentence.
UserError illegal_schedule(const Program& program, const Schedule& schedule, const Target& target,
                           const std::vector<BrokenRule>& broken);

}  // namespace tessera
