#include "tests/support/golden.h"

namespace tessera::test {
namespace {

std::string message(std::string_view name, std::string_view text) {
  return matches_golden(name, text, __FILE__).failure_message();
}

TEST(Golden, ComparesWithTheFileOfTheTestsPath) {
  EXPECT_GOLDEN("two_lines", "one\ntwo\n");
}

TEST(Golden, ShowsTheFirstDifference) {
  EXPECT_EQ(message("two_lines", "one\nthree\n"),
            "tests/golden/support/golden/two_lines.txt differs at line 2\n  golden: two\n  now:    three\n"
            "  TESSERA_UPDATE_GOLDEN=1 rewrites it");
  EXPECT_EQ(message("two_lines", "one\n"),
            "tests/golden/support/golden/two_lines.txt differs at line 2\n  golden: two\n  now:    (end)\n"
            "  TESSERA_UPDATE_GOLDEN=1 rewrites it");
}

TEST(Golden, ShowsTheTextWhereThereIsNoFile) {
  EXPECT_EQ(
      message("missing", "one\n"),
      "tests/golden/support/golden/missing.txt does not exist; TESSERA_UPDATE_GOLDEN=1 writes it:\none\n");
}

}  // namespace
}  // namespace tessera::test
