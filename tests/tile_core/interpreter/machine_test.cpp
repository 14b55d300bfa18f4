#include "tests/support/mutation.h"
#include "tests/support/programs.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/verify.h"

namespace tessera {
namespace {

using test::Call;
using test::program;

const Call kGemm{{{"M", 21}, {"N", 45}, {"K", 51}}};
const Call kSoftmax{{{"R", 5}, {"N", 41}}};
const Call kAttention{{{"H", 2}, {"I", 21}, {"J", 43}, {"D", 7}}, {{"scale", 0.5}, {"diagonal", 22}}};

std::vector<std::string> unnoticed(std::string_view name, const Call& call) {
  Program p = program(name);
  std::vector<test::Change> changes = test::without_waits(p);
  for (test::Change& change : test::without_commits(p)) changes.push_back(std::move(change));
  return test::unnoticed(changes, p, {call});
}

TEST(Machine, NoticesEveryMissingWaitCommitAndBarrier) {
  using Nothing = std::vector<std::string>;
  EXPECT_EQ(unnoticed("gemm_synced", kGemm), Nothing());
  EXPECT_EQ(unnoticed("gemm_ready", kGemm), Nothing());
  EXPECT_EQ(unnoticed("softmax_ready", kSoftmax), Nothing());
  EXPECT_EQ(unnoticed("attention_synced", kAttention), Nothing());
}

/// The smallest and the largest sum of a warp, of 1 to 8 spread as the layout says.
std::vector<double> sums_of_warps(const std::string& layout, int warps) {
  std::string text = "program parts stage synced warps " + std::to_string(warps) + R"( {
  dim N
  axis n:8 all N
  axis w:WARPS warps
  in x: f32(N)
  out low: f32()
  out high: f32()
  %0: f32[w:WARPS] x 1 = channel order (w) pitch WARPS
  %1: i64 = constant 0
  %2: f32[n:8] registers<LAYOUT> = load x(n at %1)
  %3: f32[w:WARPS] registers<lane *:32x0, warp w:WARPSx1> = reduce_warp_sum<n> %2 to w
  write_shared %0, %3
  barrier
  %4: f32[w:WARPS] registers<reg w:WARPSx1, lane *:32x0, warp *:WARPSx0> = read_shared %0
  %5: f32 = reduce_min<w> %4
  store low(), %5
  %6: f32 = reduce_max<w> %4
  store high(), %6
}
)";
  auto replace_all = [&text](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
  };
  replace_all("WARPS", std::to_string(warps));
  replace_all("LAYOUT", layout);
  Program p = parse(text);
  verify(p);
  std::vector<Buffer> tensors = {Buffer(f32, {8}), Buffer(f32, {}), Buffer(f32, {})};
  tensors[0].set({1, 2, 3, 4, 5, 6, 7, 8});
  test::run(p, {}, tensors);
  return {tensors[1].get()[0], tensors[2].get()[0]};
}

TEST(Machine, WarpsReduceWhatTheirLayoutGivesThem) {
  using Sums = std::vector<double>;
  EXPECT_EQ(sums_of_warps("lane n:4x1, lane *:8x0, warp n:2x4", 2), (Sums{1 + 2 + 3 + 4, 5 + 6 + 7 + 8}));
  EXPECT_EQ(sums_of_warps("lane n:4x2, lane *:8x0, warp n:2x1", 2), (Sums{1 + 3 + 5 + 7, 2 + 4 + 6 + 8}));
  EXPECT_EQ(sums_of_warps("reg n:2x1, lane n:2x4, lane *:16x0, warp n:2x2", 2),
            (Sums{1 + 2 + 5 + 6, 3 + 4 + 7 + 8}));
  EXPECT_EQ(sums_of_warps("lane n:2x2, lane *:16x0, warp n:2x1, warp n:2x4", 4), (Sums{1 + 3, 6 + 8}));
}

struct Mistake {
  const char* program;
  const char* from;
  const char* to;
  const Call& call;
  const char* error;
};
void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.program << ": " << mistake.from << " -> " << mistake.to;
}

class MachineError : public ::testing::TestWithParam<Mistake> {};

TEST_P(MachineError, NamesBothSides) {
  const Mistake& mistake = GetParam();
  Program p = test::changed(mistake.program, mistake.from, mistake.to);
  for (Landing landing : {Landing::last, Landing::first}) {
    try {
      test::outputs(p, mistake.call, {.landing = landing});
      ADD_FAILURE() << "ran";
    } catch (const InternalError& error) {
      EXPECT_STREQ(error.what(), mistake.error);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, MachineError,
    ::testing::Values(
        Mistake{"gemm_synced", "wait_copies 1\n    barrier", "barrier", kGemm,
                "internal tessera error: interpreter: gemm: slot 0 of %0 is read, but no wait covers the "
                "copy to it"
                "\n   here: %21: f32[m:16, n:32] registers<reg n:2x16, reg m:4x4, lane n:16x1, lane m:2x1, "
                "warp m:2x2> = "
                "dot_shared<k> %0[%18 + 0], %1[%18 + 0] onto %19   --> hand-made:42"
                "\n   copy: copy_async a(m at %12, k at %14) to %0[0] vector 8   --> hand-made:29"},
        Mistake{"gemm_synced", "wait_copies 1\n    barrier", "wait_copies 1", kGemm,
                "internal tessera error: interpreter: gemm: slot 0 of %0 is read, but no barrier follows the "
                "write"
                "\n   here: %21: f32[m:16, n:32] registers<reg n:2x16, reg m:4x4, lane n:16x1, lane m:2x1, "
                "warp m:2x2> = "
                "dot_shared<k> %0[%18 + 0], %1[%18 + 0] onto %19   --> hand-made:42"
                "\n   write: copy_async a(m at %12, k at %14) to %0[0] vector 8   --> hand-made:29"},
        Mistake{"gemm_synced", "%0[%18 + 2] vector 8", "%0[%18 + 3] vector 8", kGemm,
                "internal tessera error: interpreter: gemm: slot 0 of %0 is read, but no wait covers the "
                "copy to it"
                "\n   here: %21: f32[m:16, n:32] registers<reg n:2x16, reg m:4x4, lane n:16x1, lane m:2x1, "
                "warp m:2x2> = "
                "dot_shared<k> %0[%18 + 0], %1[%18 + 0] onto %19   --> hand-made:43"
                "\n   copy: copy_async a(m at %12, k at %20) to %0[%18 + 3] vector 8   --> hand-made:40"},
        Mistake{"gemm_synced", "to %0[1] vector 8", "to %0[0] vector 8", kGemm,
                "internal tessera error: interpreter: gemm: slot 0 of %0 is overwritten, but no wait covers "
                "the copy to it"
                "\n   here: copy_async a(m at %12, k at %16) to %0[0] vector 8   --> hand-made:33"
                "\n   copy: copy_async a(m at %12, k at %14) to %0[0] vector 8   --> hand-made:29"},
        Mistake{"gemm_synced", "results %22\n  wait_copies 0", "results %22", kGemm,
                "internal tessera error: interpreter: gemm: the program ends, but no wait covers a copy"
                "\n   copy: copy_async a(m at %12, k at %20) to %0[%18 + 2] vector 8   --> hand-made:40"},
        Mistake{"softmax_ready", "write_shared %0, %13\n  barrier", "write_shared %0, %13", kSoftmax,
                "internal tessera error: interpreter: softmax: slot 0 of %0 is read, but no barrier follows "
                "the write"
                "\n   here: %14: f32[r:2, w:2] registers<reg r:2x1, reg w:2x1, lane *:32x0, warp *:2x0> = "
                "read_shared "
                "%0   --> hand-made:25"
                "\n   write: write_shared %0, %13   --> hand-made:24"},
        Mistake{"softmax_ready", "write_shared %1, %20", "write_shared %0, %20", kSoftmax,
                "internal tessera error: interpreter: softmax: slot 0 of %0 is overwritten, but no barrier "
                "follows the read"
                "\n   here: write_shared %0, %20   --> hand-made:33"
                "\n   read: %14: f32[r:2, w:2] registers<reg r:2x1, reg w:2x1, lane *:32x0, warp *:2x0> = "
                "read_shared "
                "%0   --> hand-made:26"},
        Mistake{"softmax_ready", "write_shared %0, %13", "write_shared %0, %13\n  write_shared %0, %13",
                kSoftmax,
                "internal tessera error: interpreter: softmax: slot 0 of %0 is overwritten, but no barrier "
                "follows the write"
                "\n   here: write_shared %0, %13   --> hand-made:25"
                "\n   write: write_shared %0, %13   --> hand-made:24"}));

}  // namespace
}  // namespace tessera
