#include "tile_core/target/digest.h"

#include <gtest/gtest.h>
#include <set>

#include "tile_core/dsl/builder.h"

namespace tessera {
namespace {

Program copy_of(DType dtype, int tile) {
  dsl::Builder p("copy");
  dsl::Dim N = p.dim("N");
  dsl::In x = p.in("x", dtype, {N});
  dsl::Out y = p.out("y", dtype, {N});
  dsl::Axis n = p.grid(N, tile);
  y(n) = x(n);
  return p.finish();
}

TEST(Digest, TellsEverythingApartThatAKernelIsMadeFrom) {
  const Target& hopper = Target::named("sm_90a");
  Target without_wgmma = hopper, plain = hopper;
  without_wgmma.wgmma = false;
  plain.mma = plain.wgmma = false;
  const Facts aligned{.tensors = {{f32, 0, 16}, {f32, 0, 16}}},
      narrow{.tensors = {{f32, 0, 4}, {f32, 0, 16}}}, strided{.tensors = {{f32, -1, 16}, {f32, 0, 16}}},
      odd{.tensors = {{f32, 0, 16, false}, {f32, 0, 16}}},
      flagged{.tensors = aligned.tensors, .flags = {{"causal", 1}}};
  const Program program = copy_of(f32, 64);
  std::set<std::string> digests = {digest_of(program, aligned, {}, hopper),
                                   digest_of(copy_of(f32, 128), aligned, {}, hopper),
                                   digest_of(copy_of(bf16, 64), aligned, {}, hopper),
                                   digest_of(program, aligned, {.warps = 8}, hopper),
                                   digest_of(program, aligned, {}, Target::named("sm_80")),
                                   digest_of(program, aligned, {}, without_wgmma),
                                   digest_of(program, aligned, {}, plain)};
  for (const Facts& facts : {narrow, strided, odd, flagged})
    digests.insert(digest_of(program, facts, {}, hopper));
  EXPECT_EQ(digests.size(), 11U);
  EXPECT_TRUE(digests.contains(digest_of(copy_of(f32, 64), aligned, {}, hopper)));
  for (const std::string& digest : digests) EXPECT_EQ(digest.size(), 12U);
}

}  // namespace
}  // namespace tessera
