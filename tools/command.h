#pragma once
#include <argp.h>

#include "tile_core/base/user_error.h"

/// The subcommands of `tessera`, one file each. Each gets the words from its own name on and returns an exit
/// code; an exception is a failure, whose text the caller prints.
namespace tessera::tools {

/// kUsage: a word is wrong, by itself or beside the others. kFailed: the words are right, and the command
/// could not do it, or found something bad.
inline constexpr int kOk = 0, kFailed = 1, kUsage = 2;

/// A wrong word that only the call tells, after all words were read.
class UsageError : public UserError {
 public:
  using UserError::UserError;
};

int bench(int argc, char** argv);
int cache(int argc, char** argv);
int doctor(int argc, char** argv);
int env(int argc, char** argv);
int explain(int argc, char** argv);
int show(int argc, char** argv);
int warmup(int argc, char** argv);

/// Leaves the process with kUsage, after a message with the nearest option, where a word of `argv`, whose
/// first is the program's name, looks like an option and is none of the grammar's.
void check_options(const argp& grammar, int argc, char** argv);

/// argp_parse under the name "tessera <command>"; leaves the process with kUsage where a word is wrong.
void parse_words(const argp& grammar, int argc, char** argv, void* input);

}  // namespace tessera::tools
