#pragma once
#include "tests/fuzz/shrink.h"

namespace tessera::fuzz {

/// Random cases of one kind.
struct Campaign {
  std::string name;      ///< "programs": the option that runs it
  std::string settings;  ///< the words of the command line that a case depends on besides its seed
  Check check;
};

struct Limits {
  int cases = 0;
  int seconds = 0;          ///< 0: none
  std::uint64_t seed = 1;   ///< of the first case; the next has the next
  int shrink_seconds = 60;  ///< for each failure
};

/// Runs cases until a limit. Prints the seed, the shrunk case and the command that runs it again for every
/// failure, of each kind the first few, and a summary. Returns the number of failures.
int run(const Campaign& campaign, const Limits& limits);

/// Runs the one case of these choices. Returns the number of failures.
int replay(const Campaign& campaign, const std::vector<int>& choices);

}  // namespace tessera::fuzz
