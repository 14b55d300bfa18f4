#include "tile_core/ir/channel.h"

#include <fmt/format.h>

#include "tests/support/programs.h"

namespace tessera {
namespace {

using test::changed;
using test::program;

constexpr ValueId kFirst{0}, kSecond{1}, kThird{2};

/// One slot of bf16[a:rows, b:columns].
struct Shape {
  int rows;
  int columns;
  Channel channel;
  std::int64_t bytes;
  int alignment;
};
void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.rows << "x" << s.columns << " swizzle " << s.channel.swizzle;
}

class SlotBytes : public ::testing::TestWithParam<Shape> {};

TEST_P(SlotBytes, AreRowsOrAtomsRoundedUp) {
  Program p;
  Type type{.dtype = bf16, .slots = 3};
  type.axes = {p.new_axis({.name = "a", .extent = GetParam().rows}),
               p.new_axis({.name = "b", .extent = GetParam().columns})};
  Channel channel = GetParam().channel;
  channel.order = type.axes;
  EXPECT_EQ(slot_bytes(p, type, channel), GetParam().bytes);
  EXPECT_EQ(slot_alignment(channel), GetParam().alignment);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SlotBytes,
    ::testing::Values(Shape{16, 8, {.pitch = 16}, 512, 16}, Shape{3, 5, {.pitch = 5}, 32, 16},
                      Shape{128, 64, {.swizzle = 128}, 16384, 1024},
                      Shape{128, 128, {.swizzle = 128}, 32768, 1024}, Shape{8, 32, {.swizzle = 64}, 512, 512},
                      Shape{24, 16, {.swizzle = 32}, 768, 256}, Shape{4, 16, {.swizzle = 32}, 256, 256}));

TEST(Protocols, CountWhoPassesASlot) {
  auto found = protocols(program("gemm_roles"));
  ASSERT_EQ(found.size(), 1U);  // one channel goes with another, one stays inside a role
  EXPECT_EQ(found[kFirst].commits, 1);
  EXPECT_EQ(found[kFirst].releases, 2);
  EXPECT_EQ(found[kFirst].bulk_bytes, 128 * 64 * 2 + 32 * 64 * 2);
}

TEST(Protocols, HaveNoReleasesWhereASlotIsUsedOnce) {
  auto found = protocols(program("chain_roles"));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[kFirst].commits, 1);
  EXPECT_EQ(found[kFirst].releases, 0);
  EXPECT_EQ(found[kSecond].releases, 1);
  EXPECT_EQ(found[kThird].bulk_bytes, 32 * 64 * 2);
}

TEST(Protocols, CountEveryWarpThatReadsOrWrites) {
  constexpr const char* kLayout = "registers<reg d:64x1, lane j:32x1, warp *:4x0>";
  Program reads = changed("chain_roles", "        release %2[%12 + 0]\n",
                          fmt::format("        %30: f16[j:32, d:64] {} = read_shared %2[%12 + 0]\n"
                                      "        release %2[%12 + 0]\n",
                                      kLayout));
  EXPECT_EQ(protocols(reads)[kThird].releases, 4);
  Program writes = changed("chain_roles", "role warps 4 elected", "role warps 4");
  EXPECT_EQ(protocols(writes)[kThird].commits, 4);
}

TEST(Protocols, CountOneInstanceWhereEachHasItsOwnTickets) {
  // The consumers' tickets come from the number of the instance instead of that of the tile.
  constexpr const char* kTicket = "%43: i64 = mul %38, %24";
  EXPECT_EQ(protocols(changed("gemm_roles", kTicket, "%43: i64 = mul %34, %24"))[kFirst].releases, 1);
  // From a loop that runs as often as the number says.
  Program counted = changed("gemm_roles", kTicket,
                            "sequential * from %8 until %34 step %9 start %90 carry (%91: i64 = %8) {\n"
                            "%92: i64 = add %91, %9\nyield %92\n} results %93\n%43: i64 = mul %93, %24");
  EXPECT_EQ(protocols(counted)[kFirst].releases, 1);
  // From a branch that the number decides.
  Program chosen = changed("gemm_roles", kTicket,
                           "%90: boolean = lt %8, %34\nif %90 {\nyield %38\n} else {\nyield %8\n} results "
                           "%93\n%43: i64 = mul %93, %24");
  EXPECT_EQ(protocols(chosen)[kFirst].releases, 1);
}

TEST(Protocols, CountAllInstancesWhereSomeAreSkipped) {
  Program p =
      changed("gemm_roles", "%43: i64 = mul %38, %24", "%43: i64 = mul %34, %24\n        skip %0[%43 + 0]");
  EXPECT_EQ(protocols(p)[kFirst].releases, 2);
}

TEST(Protocols, AreEmptyWithoutRoles) {
  EXPECT_TRUE(protocols(program("attention_synced")).empty());
}

}  // namespace
}  // namespace tessera
