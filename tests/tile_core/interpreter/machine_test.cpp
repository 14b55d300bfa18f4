#include "tests/support/mutation.h"
#include "tests/support/programs.h"
#include "tile_core/base/error.h"

namespace tessera {
namespace {

using test::Call;
using test::program;

const Call kGemm{{{"M", 21}, {"N", 45}, {"K", 51}}};
const Call kSoftmax{{{"R", 5}, {"N", 41}}};
const Call kAttention{{{"H", 2}, {"I", 21}, {"J", 43}, {"D", 7}}, {{"scale", 0.5}, {"diagonal", 22}}};

TEST(Machine, NoticesEveryMissingWaitCommitAndBarrier) {
  using Nothing = std::vector<std::string>;
  EXPECT_EQ(test::unnoticed_changes(program("gemm_synced"), kGemm), Nothing());
  EXPECT_EQ(test::unnoticed_changes(program("gemm_ready"), kGemm), Nothing());
  EXPECT_EQ(test::unnoticed_changes(program("softmax_ready"), kSoftmax), Nothing());
  EXPECT_EQ(test::unnoticed_changes(program("attention_synced"), kAttention), Nothing());
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
      test::outputs(p, mistake.call, landing);
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
