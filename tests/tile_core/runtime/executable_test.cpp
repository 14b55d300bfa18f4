#include "tile_core/runtime/executable.h"

#include <gtest/gtest.h>

#include "tile_core/base/error.h"
#include "tile_core/dsl/math.h"

namespace tessera {
namespace {

using namespace dsl;

const Target& hopper() {
  return Target::named("sm_90a");
}

/// out = a b^T in square tiles, less the largest of every column where they are centred.
Program product(int tile, int depth, bool centred) {
  Builder p("product");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K});
  Out out = p.out("out", f32, {M, N});
  Axis m = p.grid(M, tile), n = p.grid(N, tile);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, depth)) acc += dot(a(m, k), b(n, k), k);
  if (centred) acc = acc - reduce_max(acc, m);
  out(m, n) = acc;
  return p.finish();
}

bool is_roled(const Program& program, const Schedule& schedule = {}) {
  const Facts facts{.tensors = {{bf16, 1, 16}, {bf16, 1, 16}, {f32, 1, 16}}};
  return !lower_on_any_path(program, facts, schedule, hopper())->kernel.maps.empty();
}

TEST(Executable, TakesTheWayThatHoldsTheProgram) {
  EXPECT_TRUE(is_roled(product(64, 64, false)));
  EXPECT_FALSE(is_roled(product(64, 64, true)));    // roles reduce no rows
  EXPECT_TRUE(is_roled(product(256, 64, false)));   // three stages fit, four do not
  EXPECT_FALSE(is_roled(product(64, 512, false)));  // two stages of roles do not fit
}

TEST(Executable, WhereNoneDoesTheFirstReasonIsGiven) {
  const Program program = product(64, 64, false);
  const auto message = [&] {
    try {
      is_roled(program, {.stages = 3, .groups = 3});
      return std::string();
    } catch (const UserError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(message().find("its 64 rows are no multiple of 64 for each of 3 warpgroups"), std::string::npos)
      << message();
}

}  // namespace
}  // namespace tessera
