#include "tests/tile_core/ir/verify_mistake.h"
#include "tile_core/ir/operands.h"

namespace tessera {
namespace {

/// A producer that fills a slot, and a consumer that looks at a part of it.
constexpr const char* kBox = R"(program box stage roled warps 2 {
  dim A
  dim B
  dim C
  axis a:8 all A
  axis b:16 all B
  axis c:128 all C
  axis half_a:4 part A
  axis half_b:8 part B
  axis half_c:64 part C
  axis quarter_c:32 part C
  in x: bf16(A, B, C)
  %0: bf16[a:8, b:16, c:128] x 1 = channel order (a, b, c) swizzle 128
  %1: i64 = constant 0
  roles {
    role warps 1 elected {
      copy_bulk x(a at %1, b at %1, c at %1) to %0
      commit %0
    }
    role warps 1 {
      wait %0
      %2: bf16[a:8, b:16, half_c:64] shared = view %0[0, c/half_c at %1]
    }
  }
}
)";

/// The program with texts replaced everywhere, and what verify() says of it.
struct Case {
  std::vector<std::pair<std::string, std::string>> changes;
  const char* error;
};
void PrintTo(const Case& c, std::ostream* out) {
  for (const auto& [from, to] : c.changes) *out << from << " -> " << to << "\n";
}

Program box(const Case& c) {
  std::string text = kBox;
  for (const auto& [from, to] : c.changes) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  }
  return parse(text);
}

std::string error_of(const Program& p) {
  std::string error = test::error_of(p);
  std::string prefix = "internal tessera error: verify box: ";
  if (error.starts_with(prefix)) error = error.substr(prefix.size());
  return error.substr(0, error.find(" (Stage::"));
}

class VerifyCopies : public ::testing::TestWithParam<Case> {};

TEST_P(VerifyCopies, SaysWhatIsWrong) {
  EXPECT_EQ(error_of(box(GetParam())), GetParam().error);
}

constexpr const char* kView = "%2: bf16[a:8, b:16, half_c:64] shared = view %0[0, c/half_c at %1]";

INSTANTIATE_TEST_SUITE_P(
    Boxes, VerifyCopies,
    ::testing::Values(Case{{}, "right"},
                      Case{{{"order (a, b, c)", "order (b, a, c)"}},
                           "the copy engine keeps the order of the dims of x, which that of %0 is not"},
                      Case{{{"b:16", "b:264"}}, "the copy engine takes 256 lanes, but axis 'b' has 264"},
                      Case{
                          {{"bf16(A, B, C)", "bf16(A, B, C, A, A, A)"}, {"c at %1)", "c at %1, %1, %1, %1)"}},
                          "the copy engine takes 1 to 5 dims"},
                      Case{{{"bf16(A, B, C)", "bf16(A, B, A, C)"}, {"b at %1,", "b at %1, %1,"}}, "right"},
                      Case{{{"swizzle 128", "pitch 128"}}, "right"},
                      Case{{{"swizzle 128", "pitch 136"}},
                           "the copy engine takes rows of whole 16 bytes that stand together, but got 256 "
                           "bytes, 136 elements "
                           "apart"}));

INSTANTIATE_TEST_SUITE_P(
    Parts, VerifyCopies,
    ::testing::Values(
        Case{{{kView, "%2: bf16[half_a:4, b:16, c:128] shared = view %0[0, a/half_a at %1]"}}, "right"},
        Case{{{kView, "%2: bf16[a:8, half_b:8, c:128] shared = view %0[0, b/half_b at %1]"}},
             "8 lanes of axis 'b' are no whole pieces of the swizzled channel %0"},
        Case{{{kView, "%2: bf16[a:8, b:16, quarter_c:32] shared = view %0[0, c/quarter_c at %1]"}},
             "32 lanes of axis 'c' are no whole pieces of the swizzled channel %0"},
        Case{{{kView, "%2: bf16[a:8, b:16, half_c:64] shared = view %0"}},
             "the slot holds bf16[a:8, b:16, c:128], but the tile is bf16[a:8, b:16, half_c:64]"}));

TEST(VerifyCopy, TheCopyEngineTakesNoVectors) {
  Program p = box({});
  for_each_inst(p.body, [](Inst& inst) {
    if (CopyIn* copy = std::get_if<CopyIn>(&inst.op)) copy->vector = 8;
  });
  EXPECT_EQ(error_of(p), "the copy engine takes no vectors");
}

}  // namespace
}  // namespace tessera
