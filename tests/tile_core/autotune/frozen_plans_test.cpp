#include "tile_core/autotune/frozen_plans.h"

#include "tests/tile_core/autotune/support.h"
#include "tile_core/base/error.h"

namespace tessera::autotune {
namespace {

class FrozenPlansTest : public InFolder {
 protected:
  std::string error_of(const std::string& text) {
    const std::string file = write("plans.json", text);
    try {
      FrozenPlans::from_file(file);
    } catch (const UserError& error) {
      const std::string what = error.what();
      return what.starts_with(file) ? "FILE" + what.substr(file.size()) : what;
    }
    return "no error";
  }
};

TEST_F(FrozenPlansTest, ComeBackForTheirVeryShape) {
  FrozenPlans written;
  written.add(linear_key(64, 64, 64), variant(16));
  written.add(linear_key(1, 64, 64), std::nullopt);
  const Variant drawn{{{"m", 128}, {"n", 256}, {"k", 64}}, {.stages = 4, .groups = 2, .grid = Grid::counter}};
  written.add(linear_key(128, 64, 64), drawn);
  written.write(path("plans.json"));
  const FrozenPlans read = FrozenPlans::from_file(path("plans.json"));
  EXPECT_EQ(read.size(), 3U);
  EXPECT_EQ(*read.find(linear_key(128, 64, 64)), drawn);
  ASSERT_NE(read.find(linear_key(64, 64, 64)), nullptr);
  EXPECT_EQ(*read.find(linear_key(64, 64, 64)), variant(16));
  EXPECT_EQ(*read.find(linear_key(1, 64, 64)), std::nullopt);
  EXPECT_EQ(read.find(linear_key(65, 64, 64)), nullptr);
}

TEST_F(FrozenPlansTest, AFileThatIsNotWholeIsAnError) {
  EXPECT_EQ(error_of(""), "FILE: is empty");
  EXPECT_TRUE(error_of("[").starts_with("FILE: is no JSON: parse error at line 1, column 2: "));
  EXPECT_EQ(error_of("{\"format\": 9, \"plans\": []}"),
            "FILE.format: expected a whole number from 1 to 1, but got 9");
  EXPECT_EQ(
      error_of("{\"format\": 1, \"library\": \"0.0.1\", \"plans\": []}"),
      "FILE.library: expected this library's version " + std::string(version()) + ", but got \"0.0.1\"");
  EXPECT_EQ(error_of("{\"format\": 1, \"library\": \"" + std::string(version()) + "\", \"plans\": [{}]}"),
            "FILE.plans[0]: expected a member 'tile', but got {}");
}

}  // namespace
}  // namespace tessera::autotune
