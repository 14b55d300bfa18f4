#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <sstream>

#include "ops/operator.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/executable.h"
#include "tile_core/runtime/sass.h"

namespace tessera {
namespace {

const Target& hopper() {
  return Target::named("sm_90a");
}

/// An operator's program in tiles, under a schedule.
struct Subject {
  std::string name;
  const ops::Operator& op;
  Facts facts;
  Tiles tiles;
  std::string schedule;
};
void PrintTo(const Subject& s, std::ostream* out) {
  *out << s.name;
}

TensorFacts aligned(DType dtype, int contiguous_dim) {
  return {.dtype = dtype, .contiguous_dim = contiguous_dim, .alignment = 16};
}

Subject linear(std::string name, DType dtype, int m, int n, std::string schedule) {
  TensorFacts matrix = aligned(dtype, 1);
  return {std::move(name),
          ops::linear(),
          {.tensors = {matrix, matrix, aligned(dtype, 0), matrix},
           .flags = {{"bias", 1}, {"gelu", 0}, {"preactivation", 0}}},
          {{"m", m}, {"n", n}, {"k", 64}},
          std::move(schedule)};
}

Subject attention(std::string name, bool causal, int i, int j, int d, std::string schedule) {
  TensorFacts rows = aligned(bf16, 3);
  return {std::move(name),
          ops::attention(),
          {.tensors = {rows, rows, rows, rows, aligned(f32, 2)},
           .flags = {{"causal", causal ? 1 : 0}, {"mask", 0}}},
          {{"i", i}, {"j", j}, {"d", d}, {"e", d}},
          std::move(schedule)};
}

std::vector<Subject> subjects() {
  return {
      linear("linear_128x192_alternate", bf16, 128, 192, "stages=4 share=alternate"),
      linear("linear_128x256", bf16, 128, 256, "stages=4"),
      linear("linear_128x128_alternate", f16, 128, 128, "stages=6 share=alternate"),
      linear("linear_64x128", bf16, 64, 128, "stages=6"),
      attention("attention_128", false, 128, 128, 128, "stages=2 share=turns"),
      attention("attention_128_causal", true, 128, 128, 128, "stages=2 share=turns"),
      attention("attention_128_without_lag", false, 128, 128, 128, "stages=2 lag=none"),
      attention("attention_64_causal", true, 128, 128, 64, "stages=4 share=turns"),
      attention("attention_96", false, 128, 128, 96, "stages=3"),
      attention("attention_256", false, 128, 64, 256, "stages=2"),
      linear("linear_128x128_alternate_cluster", bf16, 128, 128, "stages=6 share=alternate cluster=2"),
      linear("linear_128x256_cluster", bf16, 128, 256, "stages=4 cluster=2"),
      linear("linear_64x128_cluster", bf16, 64, 128, "stages=8 groups=1 cluster=2"),
      attention("attention_64_cluster", false, 128, 128, 64, "stages=4 share=turns cluster=2"),
      attention("attention_128_cluster", false, 128, 128, 128, "stages=2 lag=none cluster=2"),
      attention("attention_64_four_groups", false, 256, 64, 64, "stages=4 groups=4 share=together"),
      attention("attention_64_causal_three_groups", true, 192, 128, 64, "stages=4 groups=3 share=together"),
      attention("attention_64_causal_four_groups", true, 256, 64, 64, "stages=4 groups=4 share=together"),
      attention("attention_256_causal", true, 128, 64, 256, "stages=2 groups=2 share=turns"),
      attention("attention_64_four_groups_cluster", false, 256, 64, 64,
                "stages=4 groups=4 share=together cluster=2"),
      linear("linear_128x192_counter", bf16, 128, 192, "stages=4 share=alternate grid=counter"),
      linear("linear_128x256_counter", bf16, 128, 256, "stages=4 share=together grid=counter"),
      attention("attention_128_causal_counter", true, 128, 128, 128, "stages=2 share=turns grid=counter"),
      attention("attention_64_causal_counter", true, 192, 128, 64,
                "stages=4 groups=3 share=together grid=counter"),
      attention("attention_256_causal_counter", true, 128, 64, 256, "stages=2 share=turns grid=counter")};
}

Subject named_subject(const std::string& name) {
  for (Subject& subject : subjects()) {
    if (subject.name == name) return subject;
  }
  throw InternalError("no subject " + name);
}

KernelText kernel_of(const Subject& s) {
  Program program = s.op.program(s.facts, s.tiles);
  return lower_to_cuda(program, s.facts, schedule_from_text(s.schedule), hopper())->kernel;
}

Cubin cubin_of(const Subject& s) {
  return compile(kernel_of(s), hopper());
}

/// The names of the instructions in order: "HGMMA.64x192x16.F32.BF16".
std::vector<std::string> instructions(const Cubin& cubin) {
  std::istringstream lines(sass(cubin));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word >> word;  // the address, then the name or its predicate
    if (word.starts_with("@")) words >> word;
    std::string rest;
    std::getline(words, rest);
    names.push_back(word == "WARPGROUP.DEPBAR.LE" ? word + rest.substr(0, rest.find(';')) : word);
  }
  return names;
}

long count(const std::vector<std::string>& names, std::string_view prefix) {
  return std::count_if(names.begin(), names.end(),
                       [&](const std::string& n) { return n.starts_with(prefix); });
}

long matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator());
}

class RolesCompile : public ::testing::TestWithParam<Subject> {};
INSTANTIATE_TEST_SUITE_P(Subjects, RolesCompile, ::testing::ValuesIn(subjects()),
                         [](const auto& info) { return info.param.name; });

/// No spill, no stack, and no line of ptxas about dots that it had to put in order.
TEST_P(RolesCompile, NothingIsComplainedOf) {
  Cubin cubin = cubin_of(GetParam());
  std::string complaints;
  for (const std::string& complaint : cubin.complaints()) complaints += complaint + "\n";
  EXPECT_EQ(complaints, "");
  std::vector<std::string> names = instructions(cubin);
  EXPECT_EQ(count(names, "LDL") + count(names, "STL"), 0);
  EXPECT_GT(count(names, "UTMALDG"), 0);
  EXPECT_GT(count(names, "UTMASTG"), 0);
  EXPECT_GT(count(names, "STSM"), 0);
}

/// A block draws once for a tile, by one thread, and the number is read once by each role's threads.
TEST_P(RolesCompile, TilesAreDrawnOnce) {
  const bool counter = GetParam().schedule.find("grid=counter") != std::string::npos;
  EXPECT_EQ(count(instructions(cubin_of(GetParam())), "ATOMG.E.INC.STRONG.GPU"), counter ? 1 : 0);
}

/// What the kernel's own text keeps to, so that ptxas finds a dot's registers and its group at once: the body
/// follows the wrappers, which hold the other half of these rules.
TEST_P(RolesCompile, TheTextIsOneFunctionOfFencedGroups) {
  const std::string text = kernel_of(GetParam()).text;
  ASSERT_EQ(matches(text, "\nTESSERA_[A-Z_]*KERNEL\\("), 1);
  const std::string body = text.substr(text.find("KERNEL(tessera_"));
  EXPECT_EQ(matches(body, "\\[&|\\[=|goto |switch "), 0);
  const long groups = matches(body, "commit_dots\\(\\)");
  EXPECT_GT(groups, 0);
  EXPECT_EQ(matches(body, "fence_dots\\(\\)"), groups);
  EXPECT_EQ(matches(body, "for \\(int64 "), matches(body, "#pragma unroll 1\n *for \\(int64 "));
}

/// Numbers of named barriers are literals, threads are elected, and descriptors stand in uniform registers.
TEST_P(RolesCompile, TheMachineCodeIsUniform) {
  const std::string code = sass(cubin_of(GetParam()));
  EXPECT_EQ(matches(code, "BAR\\.(SYNC|ARV)[A-Z_.]* R\\d"), 0);
  EXPECT_GT(matches(code, "ELECT"), 0);
  EXPECT_EQ(matches(code, "HGMMA[^;]*gdesc\\[UR\\d+\\]"), matches(code, "HGMMA"));
}

TEST(RolesSass, AStepOfLinearIssuesItsDotsAndWaitsForTheStepBefore) {
  std::vector<std::string> names = instructions(cubin_of(named_subject("linear_128x192_alternate")));
  EXPECT_EQ(count(names, "HGMMA.64x192x16.F32.BF16"), 8);  // 2 blocks of 64 rows, 4 times 16 of k
  EXPECT_EQ(count(names, "HGMMA"), 8);
  EXPECT_EQ(count(names, "WARPGROUP.DEPBAR.LE gsb0, 0x1"), 1);
  EXPECT_EQ(count(names, "WARPGROUP.DEPBAR.LE gsb0, 0x0"), 1);
}

/// Half of the copies go to both blocks, and no arrival in another block fences the GPU: the fences are those
/// of the cluster's barriers, where it begins and where either role ends.
TEST(RolesSass, BlocksOfAClusterShareCopies) {
  std::vector<std::string> names = instructions(cubin_of(named_subject("linear_128x128_alternate_cluster")));
  EXPECT_EQ(count(names, "UTMALDG.2D"), 2);
  EXPECT_EQ(count(names, "UTMALDG.2D.MULTICAST"), 1);
  EXPECT_EQ(count(names, "UCGABAR_ARV"), 3);
  EXPECT_EQ(count(names, "MEMBAR.ALL.GPU"), 3);
}

/// The exponentials stand between the wait for their scores and the next iteration's wait for the dot that
/// trails: they run under it.
TEST(RolesSass, ExponentialsRunUnderTheTrailingDot) {
  std::vector<std::string> names = instructions(cubin_of(named_subject("attention_128")));
  EXPECT_EQ(count(names, "HGMMA.64x128x16.F32.BF16"), 32);
  auto wait = std::find_if(names.begin(), names.end(), [](const std::string& n) {
    return n.starts_with("WARPGROUP.DEPBAR.LE gsb0, 0x1");
  });
  ASSERT_NE(wait, names.end());
  auto next = std::find_if(wait + 1, names.end(),
                           [](const std::string& n) { return n.starts_with("WARPGROUP.DEPBAR"); });
  long under = std::count_if(wait, next, [](const std::string& n) { return n.starts_with("MUFU.EX2"); });
  EXPECT_GE(under, 64);
}

}  // namespace
}  // namespace tessera
