#include "perf/words.h"

#include <charconv>
#include <cstring>
#include <limits>

namespace tessera {

int whole_number(const char* option, const char* word, int least, argp_state* state) {
  int value = 0;
  const char* const end = word + std::strlen(word);
  const auto [read, error] = std::from_chars(word, end, value);
  if (error == std::errc::result_out_of_range)
    argp_error(state, "%s: expected a number from %d to %d but got '%s'", option, least,
               std::numeric_limits<int>::max(), word);
  if (error != std::errc() || read != end || value < least)
    argp_error(state, "%s: expected a number from %d on but got '%s'", option, least, word);
  return value;
}

Policy policy_from(const char* option, std::string_view word, argp_state* state) {
  if (word == "auto") return Policy::automatic;
  if (word == "native") return Policy::native;
  if (word != "tile")
    argp_error(state, "%s: expected auto, tile or native but got '%s'", option, word.data());
  return Policy::tile;
}

}  // namespace tessera
