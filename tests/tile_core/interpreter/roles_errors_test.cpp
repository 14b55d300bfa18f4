#include <regex>

#include "tests/support/programs.h"
#include "tests/support/same_result.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/verify.h"

namespace tessera {
namespace {

using test::Call;
using Edits = std::vector<std::pair<std::string, std::string>>;

/// What is wrong with a program, layouts left out.
std::string error_of(const Program& p, const Call& call, const InterpretOptions& options = {}) {
  try {
    test::outputs(p, call, options);
    return "ran";
  } catch (const InternalError& error) {
    std::string text = std::regex_replace(error.what(), std::regex(" registers<[^>]*>"), "");
    return std::regex_replace(text, std::regex("internal tessera error: interpreter: "), "");
  }
}

/// The program with pieces of its text replaced, each at its first place.
Program edited(std::string text, const Edits& edits) {
  for (const auto& [from, to] : edits) {
    std::size_t place = text.find(from);
    if (place == std::string::npos) throw std::invalid_argument("no such text: " + from);
    text.replace(place, from.size(), to);
  }
  return parse(text, "test");
}

struct Mistake {
  std::string program;  ///< its name, or its text
  Call call;
  Edits edits;
  std::string error;
};
void PrintTo(const Mistake& mistake, std::ostream* out) {
  for (const auto& [from, to] : mistake.edits) *out << from << " -> " << to << "; ";
}

/// One iteration after the other reads an operand into registers and adds to what it carries.
constexpr const char* kDots = R"(program dots stage synced warps 4 {
  dim M
  dim N
  dim K
  axis m:64 grid M
  axis n:16 all N
  axis k:32 all K
  in a: f16(M, K)
  in b: f16(N, K)
  out c: f32(M, N)
  grid m
  %0: f16[m:64, k:32] x 1 = channel order (m, k) swizzle 64
  %1: f16[n:16, k:32] x 1 = channel order (n, k) swizzle 64
  %2: i64 = block_index
  %3: i64 = constant 64
  %4: i64 = mul %2, %3
  %5: i64 = constant 0
  %6: i64 = constant 1
  %7: i64 = constant 2
  copy a(m at %4, k at %5) to %0 vector 1
  copy b(n at %5, k at %5) to %1 vector 1
  fence_shared
  barrier
  %8: f32[m:64, n:16] registers<reg n:2x1, reg m:2x8, reg n:2x8, lane n:4x2, lane m:8x1, warp m:4x16> = constant 0
  sequential * from %5 until %7 step %6 start %9 carry (%10: f32[m:64, n:16] registers<reg n:2x1, reg m:2x8, reg n:2x8, lane n:4x2, lane m:8x1, warp m:4x16> = %8) {
    %11: f16[m:64, k:32] registers<reg k:2x1, reg m:2x8, reg k:4x8, lane k:4x2, lane m:8x1, warp m:4x16> = read_shared %0
    fence_dots
    %12: f32[m:64, n:16] pending registers<reg n:2x1, reg m:2x8, reg n:2x8, lane n:4x2, lane m:8x1, warp m:4x16> = issue_dot<k> %11, %1 onto %10
    commit_dots
    %13: f32[m:64, n:16] registers<reg n:2x1, reg m:2x8, reg n:2x8, lane n:4x2, lane m:8x1, warp m:4x16> = wait_dots 0 %12
    yield %13
  } results %14
  store c(m at %4, n at %5), %14
}
)";

TEST(Dots, AddWhatIsCarried) {
  Program p = parse(kDots);
  verify(p);
  for (const InterpretOptions& options : test::schedules(p)) {
    std::vector<std::vector<double>> t = test::outputs(p, {{{"M", 2}, {"N", 1}, {"K", 2}}}, options);
    EXPECT_FLOAT_EQ(static_cast<float>(t[2][1]),
                    static_cast<float>(2 * (t[0][2] * t[1][0] + t[0][3] * t[1][1])));
  }
}

/// The first role of twice_roles copies by its threads instead.
const Edits kByThreads = {
    {" elected {\n      sequential k from %3 until %5 start %7",
     " {\n      sequential k from %3 until %5 start %7"},
    {"copy_bulk a(m at %6, k at %7) to %0[%8 + 0]",
     "copy_async a(m at %6, k at %7) to %0[%8 + 0] vector 8\n        commit_copies\n        wait_copies 0"}};

TEST(Roles, WriteSlotsByThreads) {
  Program p = edited(test::program_text("twice_roles"), kByThreads);
  verify(p);
  for (const InterpretOptions& options : test::schedules(p)) {
    std::vector<std::vector<double>> t = test::outputs(p, {{{"M", 8}, {"K", 70}}}, options);
    for (std::size_t i = 0; i < t[0].size(); ++i) EXPECT_EQ(t[1][i], 2 * t[0][i]);
  }
}

TEST(Roles, NeedNeitherAcquireNorReleaseWhereASlotIsUsedOnce) {
  Program p = edited(test::program_text("chain_lag"), {{"acquire %0\n", "\n"}, {"release %0\n", "\n"}});
  verify(p);
  EXPECT_TRUE(test::same_result(test::program("chain_tile"), p, {{{"S", 64}, {"T", 40}, {"D", 8}}}));
}

class RolesError : public ::testing::TestWithParam<Mistake> {};

TEST_P(RolesError, NamesBothSides) {
  const Mistake& mistake = GetParam();
  std::string text = mistake.program == kDots ? kDots : test::program_text(mistake.program);
  Program p = edited(text, mistake.edits);
  EXPECT_EQ(error_of(p, mistake.call), mistake.error);
  for (const InterpretOptions& options : test::schedules(p))
    EXPECT_NE(error_of(p, mistake.call, options), "ran");
}

const Call kTwice{{{"M", 11}, {"K", 100}}};
const Call kOnce{{{"M", 8}, {"K", 16}}};
const Call kGemm{{{"M", 150}, {"N", 45}, {"K", 90}}};
const Call kTile{{{"M", 60}, {"N", 32}, {"K", 40}}};
const Call kProduct{{{"M", 60}, {"N", 10}, {"K", 30}}};

INSTANTIATE_TEST_SUITE_P(
    Slots, RolesError,
    ::testing::Values(
        Mistake{"twice_roles",
                kTwice,
                {{"acquire %0[%8 + 0]", ""}},
                "twice: slot 0 of %0 is written, but role 0 has not acquired it"
                "\n   here, role 0: copy_bulk a(m at %6, k at %7) to %0[%8 + 0]   --> test:20"},
        Mistake{"twice_roles",
                kTwice,
                {{"acquire %0[%8 + 0]", "acquire %0[%8 + 4]"}},
                "twice: slot 0 of %0 passes a wait for release 2 by the parity of its barrier, but the last "
                "was release 0"
                "\n   here, role 0: acquire %0[%8 + 4]   --> test:19"},
        Mistake{"twice_roles",
                kTwice,
                {{"commit %0[%8 + 0]", ""}},
                "twice: slot 0 of %0 is acquired, but what was acquired before is not committed"
                "\n   here, role 0: acquire %0[%8 + 0]   --> test:19"
                "\n   last, role 0: acquire %0[%8 + 0]   --> test:19"},
        Mistake{"twice_roles",
                kTwice,
                {{"commit %0[%8 + 0]", "commit %0[%8 + 0]\n commit %0[%8 + 0]"}},
                "twice: slot 0 of %0 is committed, but not acquired"
                "\n   here, role 0: commit %0[%8 + 0]   --> test:22"
                "\n   last, role 0: commit %0[%8 + 0]   --> test:21"},
        Mistake{"twice_roles",
                kTwice,
                {{"wait %0[%10 + 0]", ""}},
                "twice: slot 0 of %0 is read, but role 1 has not waited for it"
                "\n   here, role 1: %11: bf16[m:8, k:16] = read_shared %0[%10 + 0]   --> test:27"
                "\n   last, role 0: commit %0[%8 + 0]   --> test:21"},
        Mistake{"twice_roles",
                kTwice,
                {{"wait %0[%10 + 0]", "wait %0[%10 + 2]"}},
                "twice: slot 0 of %0 passes a wait for commit 2 by the parity of its barrier, but the last "
                "was commit 0"
                "\n   here, role 1: wait %0[%10 + 2]   --> test:26"
                "\n   last, role 0: commit %0[%8 + 0]   --> test:21"},
        Mistake{"twice_roles",
                kTwice,
                {{"release %0[%10 + 0]", ""}},
                "twice: slot 0 of %0 is waited for, but what was waited for before is not released"
                "\n   here, role 1: wait %0[%10 + 0]   --> test:26"
                "\n   last, role 1: wait %0[%10 + 0]   --> test:26"},
        Mistake{"twice_roles",
                kTwice,
                {{"release %0[%10 + 0]", "release %0[%10 + 0]\n release %0[%10 + 0]"}},
                "twice: slot 0 of %0 is released, but not waited for"
                "\n   here, role 1: release %0[%10 + 0]   --> test:29"
                "\n   last, role 1: release %0[%10 + 0]   --> test:28"},
        Mistake{"twice_roles",
                kTwice,
                {{"wait_stores 0", ""}},
                "twice: slot 0 of %1 is released, but no wait covers the copy out of it"
                "\n   here, role 2: release %1[%14 + 0]   --> test:42"
                "\n   store, role 2: copy_out %1[%14 + 0] to out(m at %6, k at %13)   --> test:39"},
        Mistake{"twice_roles",
                kTwice,
                {kByThreads[0],
                 {"copy_bulk a(m at %6, k at %7) to %0[%8 + 0]",
                  "copy_async a(m at %6, k at %7) to %0[%8 + 0] vector 8"}},
                "twice: slot 0 of %0 is committed, but no wait covers the copy to it"
                "\n   here, role 0: commit %0[%8 + 0]   --> test:21"
                "\n   copy, role 0: copy_async a(m at %6, k at %7) to %0[%8 + 0] vector 8   --> test:20"},
        Mistake{"twice_roles",
                kTwice,
                {{"commit %0[%8 + 0]", "write_shared %0[%8 + 0], %3\n commit %0[%8 + 0]"}},
                "twice: slot 0 of %0 is overwritten, but nobody has waited for the copy to it"
                "\n   here, role 0: write_shared %0[%8 + 0], %3   --> test:21"
                "\n   copy, role 0: copy_bulk a(m at %6, k at %7) to %0[%8 + 0]   --> test:20"},
        Mistake{"twice_roles",
                kTwice,
                {{"ticket %8 {", "ticket %8 after %3 {"}, {"constant 0", "constant -32"}},
                "twice: %0 has no use -32"},
        Mistake{"gemm_parts",
                kGemm,
                {{"mt/m at %20", "mt/m at %8"}},
                "gemm: slot 0 of %0 has 2 parts, none is number 32"}));

INSTANTIATE_TEST_SUITE_P(
    Memory, RolesError,
    ::testing::Values(
        Mistake{"twice_roles",
                kTwice,
                {{"fence_shared", ""}},
                "twice: slot 0 of %1 is read, but no fence follows the write"
                "\n   here, role 2: copy_out %1[%14 + 0] to out(m at %6, k at %13)   --> test:39"
                "\n   write, role 1: write_shared %1[%10 + 0], %12   --> test:31"},
        Mistake{"gemm_parts",
                kGemm,
                {{"barrier", ""}},
                "gemm: slot 0 of %2 is read, but no barrier follows the write"
                "\n   here, role 1 instance 0: copy_out %2[0, mt/m at %20] to out(m at %33, n at %17)   --> "
                "test:61"
                "\n   write, role 1 instance 0: write_shared %2[0, mt/m at %20], %31   --> test:56"},
        Mistake{"gemm_parts",
                kGemm,
                {{"fence_shared\n      barrier", "barrier\n      fence_shared"}},
                "gemm: slot 0 of %2 is read, but no barrier follows the fence"
                "\n   here, role 1 instance 0: copy_out %2[0, mt/m at %20] to out(m at %33, n at %17)   --> "
                "test:61"
                "\n   write, role 1 instance 0: write_shared %2[0, mt/m at %20], %31   --> test:56"},
        Mistake{"gemm_parts",
                kGemm,
                {{"write_shared %2[0, mt/m at %20]", "write_shared %2[0, mt/m at %4]"}},
                "gemm: slot 0 of %2 is overwritten, but nothing orders it after the write"
                "\n   here, role 1 instance 1: write_shared %2[0, mt/m at %4], %31   --> test:56"
                "\n   write, role 1 instance 0: write_shared %2[0, mt/m at %4], %31   --> test:56"},
        Mistake{"gemm_parts",
                kGemm,
                {{"copy_out %2[0, mt/m at %20]", "copy_out %2[0, mt/m at %4]"}},
                "gemm: slot 0 of %2 is read, but nothing orders it after the write"
                "\n   here, role 1 instance 1: copy_out %2[0, mt/m at %4] to out(m at %33, n at %17)   --> "
                "test:61"
                "\n   write, role 1 instance 0: write_shared %2[0, mt/m at %20], %31   --> test:56"},
        Mistake{
            "gemm_turns",
            kGemm,
            {{"wait_stores 0", ""}},
            "gemm: slot 0 of %2 is overwritten, but no wait covers the copy out of it"
            "\n   here, role 1 instance 0: write_shared %2[%33 + 0], %63   --> test:98"
            "\n   store, role 1 instance 0: copy_out %2[%33 + 0] to out(m at %41, n at %42)   --> test:101"},
        Mistake{
            "gemm_turns",
            kGemm,
            {{"wait_stores 0\n        barrier", "wait_stores 0"}},
            "gemm: slot 0 of %2 is overwritten, but no barrier follows the wait for the copy out of it"
            "\n   here, role 1 instance 0: write_shared %2[%33 + 0], %63   --> test:97"
            "\n   store, role 1 instance 0: copy_out %2[%33 + 0] to out(m at %41, n at %42)   --> test:100"},
        Mistake{kDots,
                kProduct,
                {{"fence_shared", ""}},
                "dots: slot 0 of %1 is read, but no fence follows the write"
                "\n   here: %12: f32[m:64, n:16] pending = issue_dot<k> %11, %1 onto %10   --> test:28"
                "\n   write: copy b(n at %5, k at %5) to %1 vector 1   --> test:21"},
        Mistake{kDots,
                kProduct,
                {{"commit_dots\n", "commit_dots\n write_shared %1, %5\n"}},
                "dots: slot 0 of %1 is overwritten, but no wait covers the dot that reads it"
                "\n   here: write_shared %1, %5   --> test:30"
                "\n   dot: %12: f32[m:64, n:16] pending = issue_dot<k> %11, %1 onto %10   --> test:28"},
        Mistake{kDots,
                kProduct,
                {{"wait_dots 0 %12\n", "wait_dots 0 %12\n write_shared %1, %5\n"}},
                "dots: slot 0 of %1 is overwritten, but no barrier follows the wait for the dot that reads it"
                "\n   here: write_shared %1, %5   --> test:31"
                "\n   dot: %12: f32[m:64, n:16] pending = issue_dot<k> %11, %1 onto %10   --> test:28"}));

INSTANTIATE_TEST_SUITE_P(
    Dots, RolesError,
    ::testing::Values(
        Mistake{"gemm_turns",
                kGemm,
                {{"fence_dots", ""}},
                "gemm: a dot is issued, but no fence_dots since the last commit"
                "\n   here, role 1 instance 0: %51: f32[m:64, n:32] pending = issue_dot<k> %0[%48 + 0], "
                "%1[%48 + 0] onto %49 if %50   --> test:71"},
        Mistake{"gemm_turns",
                kGemm,
                {{"wait_dots 1", ""}},
                "gemm: slot 0 of %0 is released, but no wait covers the dot that reads it"
                "\n   here, role 1 instance 0: release %0[%52 + 0]   --> test:76"
                "\n   dot, role 1 instance 0: %51: f32[m:64, n:32] pending = issue_dot<k> %0[%48 + 0], "
                "%1[%48 + 0] onto %49 if %50   --> test:71"},
        Mistake{"gemm_turns",
                kGemm,
                {{"wait_dots 0 %53", "wait_dots 1 %53"}},
                "gemm: %53 is waited for, but its group is not among those that the wait covers"
                "\n   here, role 1 instance 0: %54: f32[m:64, n:32] = wait_dots 1 %53   --> test:81"
                "\n   dot, role 1 instance 0: %51: f32[m:64, n:32] pending = issue_dot<k> %0[%48 + 0], "
                "%1[%48 + 0] onto %49 if %50   --> test:71"},
        Mistake{kDots,
                kProduct,
                {{"fence_dots", ""}, {"    %11", "    fence_dots\n    %11"}},
                "dots: a dot reads %11, but no fence_dots follows what writes its registers"
                "\n   here: %12: f32[m:64, n:16] pending = issue_dot<k> %11, %1 onto %10   --> test:29"
                "\n   fence: fence_dots   --> test:26"
                "\n   write: %11: f16[m:64, k:32] = read_shared %0   --> test:27"},
        Mistake{kDots,
                kProduct,
                {{"yield %13", "yield %12"}, {"wait_dots 0 %12", "wait_dots 1 %10"}},
                "dots: the registers of %11 are written, but no wait covers the dot that reads them"
                "\n   here: %11: f16[m:64, k:32] = read_shared %0   --> test:26"
                "\n   dot: %12: f32[m:64, n:16] pending = issue_dot<k> %11, %1 onto %10   --> test:28"},
        Mistake{kDots,
                kProduct,
                {{"until %7", "until %6"}, {"yield %13", "yield %12"}, {"wait_dots 0 %12", "wait_dots 1 %8"}},
                "dots: %14 is read, but no wait covers the dot that gives it"
                "\n   here: store c(m at %4, n at %5), %14   --> test:33"
                "\n   dot: %12: f32[m:64, n:16] pending = issue_dot<k> %11, %1 onto %10   --> test:28"}));

INSTANTIATE_TEST_SUITE_P(
    Turns, RolesError,
    ::testing::Values(Mistake{"gemm_turns",
                              kGemm,
                              {{"take_turn", ""}},
                              "gemm: role 1 instance 0 passes a turn that it has not taken"
                              "\n   here, role 1 instance 0: pass_turn   --> test:80"},
                      Mistake{"gemm_turns",
                              kGemm,
                              {{"pass_turn", ""}},
                              "gemm: role 1 instance 0 takes a turn, but has not passed the last"
                              "\n   here, role 1 instance 0: take_turn   --> test:66"
                              "\n   take, role 1 instance 0: take_turn   --> test:66"},
                      Mistake{"gemm_turns",
                              kTile,
                              {{"pass_turn", ""}},
                              "gemm: role 1 instance 0 ends, but has not passed its turn"
                              "\n   take, role 1 instance 0: take_turn   --> test:66"},
                      Mistake{"gemm_turns",
                              kGemm,
                              {{"release %0[%57 + 0]", ""}},
                              "gemm: no role can go on"
                              "\n   role 0 waits for release 2 of slot 2 of %0; release 2 lacks 1 arrivals "
                              "and 0 bytes: acquire %0[%32 + 0]   --> test:46"
                              "\n   role 1 instance 0 waits for its turn: take_turn   --> test:66"
                              "\n   role 1 instance 1 waits for commit 3 of slot 2 of %0; commit 3 lacks 1 "
                              "arrivals and 0 bytes: wait %0[%48 + 0]   --> test:69"}));

INSTANTIATE_TEST_SUITE_P(
    Ends, RolesError,
    ::testing::Values(
        Mistake{"twice_roles",
                kOnce,
                {{"commit %1[%10 + 0]", ""}},
                "twice: role 1 ends, but slot 0 of %1 is acquired and not committed"
                "\n   here, role 1: acquire %1[%10 + 0]   --> test:30"},
        Mistake{"gemm_turns",
                kTile,
                {{"release %0[%57 + 0]", ""}},
                "gemm: role 1 instance 0 ends, but slot 2 of %0 is waited for and not released"
                "\n   here, role 1 instance 0: wait %0[%48 + 0]   --> test:69"},
        Mistake{"twice_roles",
                kOnce,
                {{"until %5 start %9", "until %3 start %9"}, {"until %5 start %13", "until %3 start %13"}},
                "twice: the program ends, but nobody waits for a copy to slot 0 of %0"
                "\n   copy: copy_bulk a(m at %6, k at %7) to %0[%8 + 0]   --> test:20"
                "\n   last, role 0: commit %0[%8 + 0]   --> test:21"},
        Mistake{"twice_roles",
                kOnce,
                {{"until %5 start %13", "until %3 start %13"}},
                "twice: the program ends, but slot 0 of %1 has been committed 1 times and released 0 times"
                "\n   last, role 1: commit %1[%10 + 0]   --> test:33"},
        Mistake{
            "gemm_turns",
            kGemm,
            {{"wait_stores 0\n    }", "}"}},
            "gemm: role 1 instance 1 ends, but no wait covers a copy out"
            "\n   store, role 1 instance 1: copy_out %2[%33 + 0] to out(m at %41, n at %42)   --> test:101"},
        Mistake{kDots,
                kProduct,
                {{"until %7", "until %6"},
                 {"yield %13", "yield %12"},
                 {"wait_dots 0 %12", "wait_dots 1 %8"},
                 {"store c(m at %4, n at %5), %14", ""}},
                "dots: the program ends, but no wait covers a dot"
                "\n   dot: %12: f32[m:64, n:16] pending = issue_dot<k> %11, %1 onto %10   --> test:28"}));

}  // namespace
}  // namespace tessera
