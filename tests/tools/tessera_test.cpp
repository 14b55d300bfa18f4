#include "tests/tools/command_line.h"
#include "tile_core/base/env.h"
#include "tile_core/base/version.h"

namespace tessera::test {
namespace {

using Tessera = CommandLine;

TEST_F(Tessera, ListsItsCommands) {
  const SubprocessResult result = tessera({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* command : {"doctor", "env", "cache", "show", "explain", "warmup", "bench"})
    EXPECT_NE(result.output.find(std::string("  ") + command + " "), std::string::npos) << command;
}

TEST_F(Tessera, TellsItsVersion) {
  EXPECT_EQ(tessera({"--version"}).output, "tessera " + std::string(version()) + "\n");
}

TEST_F(Tessera, WrongWordsAreExplainedWithExitCode2) {
  SubprocessResult result = tessera({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors, usage_error("tessera", "expected a command"));
  result = tessera({"shwo"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors, usage_error("tessera", "no command is called 'shwo'; the nearest is show"));
  EXPECT_EQ(tessera({"--hlep"}).errors,
            usage_error("tessera", "no option is called '--hlep'; the nearest is --help"));
  EXPECT_EQ(tessera({"env", "all"}).errors, usage_error("tessera env", "'all' is one word too many"));
}

TEST_F(Tessera, EveryCommandExplainsItself) {
  for (const char* command : {"doctor", "env", "cache", "show", "explain", "warmup", "bench"}) {
    const SubprocessResult result = tessera({command, "--help"});
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_EQ(result.output.rfind(std::string("Usage: tessera ") + command, 0), 0) << result.output;
  }
}

TEST_F(Tessera, EveryCommandWarnsOfUnknownVariables) {
  set("TESSERA_BOGUS", "1");
  EXPECT_EQ(
      tessera({"env"}).errors,
      "tessera: warning: TESSERA_BOGUS is not a variable of Tessera; the nearest is TESSERA_LOG, `tessera "
      "env` lists all\n");
}

TEST_F(Tessera, EnvPrintsTheTable) {
  set("TESSERA_JIT", "off");
  const SubprocessResult result = tessera({"env"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, env::print_table());
}

}  // namespace
}  // namespace tessera::test
