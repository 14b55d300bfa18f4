#include "tests/fuzz/random_setting.h"

#include "tile_core/target/schedule_fields.h"

namespace tessera::fuzz {
namespace {

Schedule of_warpgroups(Choices& c) {
  Schedule s;
  s.stages = c.of({0, 1, 2, 3, 4});
  s.groups = c.of({0, 1, 2, 3});
  s.share = c.of({Share::automatic, Share::turns, Share::alternate, Share::turns, Share::together});
  s.grid = c.of({Grid::automatic, Grid::once, Grid::persistent, Grid::counter});
  s.lag = c.of({Lag::automatic, Lag::none, Lag::one});
  s.raster = c.of({0, 0, 1, 2, 5});
  s.order = c.of({TileOrder::automatic, TileOrder::plain, TileOrder::longest});
  s.cluster = c.of({0, 1, 2});
  s.blocks = c.of({0, 0, 1, 2});
  return s;
}

Schedule of_warps(Choices& c) {
  Schedule s;
  s.stages = c.of({0, 1, 2, 3, 4});
  s.warps = c.of({0, 1, 2, 4, 8, 16});
  s.blocks = c.of({0, 0, 1, 2});
  s.vector = c.of({0, 16, 8, 4, 2, 1});
  return s;
}

/// One field after the other goes back to automatic until the rest goes together.
void take_back_broken_fields(Schedule& s) {
  if (!broken_fields(s).empty()) s.order = TileOrder::automatic;
  if (!broken_fields(s).empty()) s.lag = Lag::automatic;
  if (!broken_fields(s).empty()) s.groups = Schedule::kAutomatic;
  if (!broken_fields(s).empty()) s.grid = Grid::automatic;
  if (!broken_fields(s).empty()) s = {};
}

}  // namespace

test::Setting random_setting(Choices& choices, bool wide) {
  test::Setting setting;
  if (!wide) {
    setting.target =
        Target::all()[static_cast<std::size_t>(choices.below(static_cast<int>(Target::all().size())))];
    setting.arrangement =
        choices.of({test::Arrangement::dense, test::Arrangement::shifted, test::Arrangement::padded,
                    test::Arrangement::spread, test::Arrangement::reversed});
  } else if (choices.chance(15)) {
    setting.arrangement = test::Arrangement::reversed;
  }
  if (choices.chance(75)) setting.schedule = wide ? of_warpgroups(choices) : of_warps(choices);
  take_back_broken_fields(setting.schedule);
  return setting;
}

}  // namespace tessera::fuzz
