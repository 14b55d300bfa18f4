#pragma once
#include <argp.h>
#include <string>
#include <string_view>

#include "perf/call_spec.h"

/// Calls as words: OP SHAPES [flags].
namespace tessera {

/// Reads the words of one line; throws UserError where they are no call.
CallSpec call_from_text(std::string_view line);

struct CallOption;

/// The input of call_arguments().
struct CallWords {
  CallSpec call;
  bool required = true;  ///< a line without a call is an error
  std::vector<const CallOption*> given;
  std::string problem;  ///< what was reported last
};

/// An argp child for commands that take a call. It reports a bad word through argp_error, and at the end of
/// the line a call that is not whole, or whose shapes break the operator's rules.
const argp& call_arguments();

}  // namespace tessera
