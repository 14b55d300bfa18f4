#include <c10/util/Exception.h>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "tile_core/base/env.h"
#include "tile_core/base/nearest.h"
#include "tile_core/base/version.h"
#include "tools/command.h"

// The command line: the table of subcommands, and the words before one.
namespace tessera::tools {
namespace {

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, char** argv);
};

constexpr Command kCommands[] = {
    {"doctor", "what Tessera needs: found where, or what to do", doctor},
    {"env", "every TESSERA_* variable: value, meaning, what is legal", env},
    {"cache", "list, verify, clear or measure the cache of kernels", cache},
    {"show", "a kernel on its way from tile program to SASS (no GPU needed)", show},
    {"explain", "the plan for a call, who says so, and the alternatives", explain},
    {"warmup", "compile the kernels of listed calls (no GPU needed)", warmup},
    {"bench", "measure a call against every native candidate", bench},
};

std::string command_list() {
  std::string text = "A tile compiler and the PyTorch operators that it generates.\n\nCommands:\n";
  for (const Command& command : kCommands) text += fmt::format("  {:<8} {}\n", command.name, command.summary);
  return text +
         "\n`tessera COMMAND --help` says more.\vExit codes: 0; 1 where the command could not do it or found "
         "something bad; 2 where a word is wrong.";
}

std::string nearest_command(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  return nearest_hint(word, names);
}

error_t take_command(int key, char* word, argp_state* state) {
  switch (key) {
    case ARGP_KEY_ARG:
      for (const Command& command : kCommands) {
        if (command.name != word) continue;
        *static_cast<const Command**>(state->input) = &command;
        state->next = state->argc;  // the other words are the command's
        return 0;
      }
      argp_error(state, "no command is called '%s'%s", word, nearest_command(word).c_str());
      return EINVAL;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "expected a command");
      return EINVAL;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/// The place of the first word that is no option.
int place_of_command(int argc, char** argv) {
  int place = 1;
  while (place < argc && argv[place][0] == '-') ++place;
  return place;
}

int failed(const Command& command, const char* why) {
  std::fflush(stdout);
  fmt::print(stderr, "tessera {}: {}\n", command.name, why);
  return kFailed;
}

int misused(const Command& command, const char* why) {
  failed(command, why);
  std::string name = fmt::format("tessera {}", command.name);
  const argp nothing{};
  argp_help(&nothing, stderr, ARGP_HELP_SEE, name.data());
  return kUsage;
}

int run(int argc, char** argv) {
  const std::string doc = command_list(), version = fmt::format("tessera {}", tessera::version());
  argp_program_version = version.c_str();
  argp_err_exit_status = kUsage;
  const Command* command = nullptr;
  const argp grammar{nullptr, take_command, "COMMAND ...", doc.c_str(), nullptr, nullptr, nullptr};
  const int place = place_of_command(argc, argv);
  std::string name = "tessera";
  argv[0] = name.data();
  check_options(grammar, place, argv);
  argp_parse(&grammar, argc, argv, ARGP_IN_ORDER, nullptr, &command);
  env::warn_of_unknown();
  try {
    return command->run(argc - place, argv + place);
  } catch (const UsageError& error) {
    return misused(*command, error.what());
  } catch (const c10::Error& error) {
    return failed(*command, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return failed(*command, error.what());
  }
}

}  // namespace
}  // namespace tessera::tools

int main(int argc, char** argv) {
  return tessera::tools::run(argc, argv);
}
