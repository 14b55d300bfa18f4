#include <regex>

#include "ops/operator.h"
#include "tests/support/golden.h"
#include "tests/support/programs.h"
#include "tile_core/dsl/math.h"
#include "tile_core/passes/pipeline.h"
#include "tools/memory_map.h"
#include "tools/roles_text.h"
#include "tools/timeline.h"

namespace tessera::tools {
namespace {

const Target& kTarget = Target::named("sm_90a");

/// A program on its way, with the texts that `show` makes of it.
struct Shown {
  std::string roles, memory, timeline;
};

/// Dense tensors, whose last dim is contiguous.
PassContext context_of(const Program& p, const Schedule& schedule) {
  PassContext context{{}, schedule, kTarget};
  for (const TensorDecl& tensor : p.tensors)
    context.facts.tensors.push_back({tensor.dtype, static_cast<int>(tensor.dims.size()) - 1, 16});
  return context;
}

Shown shown(const Program& tile, const Schedule& schedule, const Sizes& call,
            const std::vector<double>& scalars = {}) {
  const PassContext context = context_of(tile, schedule);
  Program masked;
  const Program ready = lower(tile, context, [&](const Pass&, const Program& program) {
    if (program.stage == Stage::masked) masked = program;
  });
  const std::regex place("  [^ ]+:[0-9]+\n");  // the lines of other rooms' files may move
  return {roles_text(ready, masked, context), std::regex_replace(memory_map(ready, kTarget), place, "\n"),
          timeline(ready, kTarget, call, scalars)};
}

Program program_of(const ops::Operator& op, const std::vector<DType>& dtypes, const Flags& flags,
                   const Tiles& tiles) {
  Facts facts{.flags = flags};
  for (DType dtype : dtypes) facts.tensors.push_back({.dtype = dtype});
  return op.program(facts, tiles);
}

Program linear() {
  return program_of(ops::linear(), std::vector<DType>(4, bf16),
                    {{"bias", 1}, {"gelu", 0}, {"preactivation", 0}}, {{"m", 64}, {"n", 64}, {"k", 64}});
}

Program causal_attention() {
  return program_of(ops::attention(), {bf16, bf16, bf16, bf16, f32}, {{"causal", 1}, {"mask", 0}},
                    {{"i", 128}, {"j", 64}, {"d", 64}, {"e", 64}});
}

const Sizes kLinear = {{"M", 4096}, {"N", 4096}, {"K", 4096}};

TEST(ShowText, GroupsWithTilesOfTheirOwn) {
  const Shown text = shown(linear(), {.stages = 4, .groups = 2, .share = Share::alternate}, kLinear);
  EXPECT_GOLDEN("linear_alternate_roles", text.roles);
  EXPECT_GOLDEN("linear_alternate_memory", text.memory);
  EXPECT_GOLDEN("linear_alternate_timeline", text.timeline);
}

TEST(ShowText, BlocksOfAClusterThatShareCopies) {
  const Shown text = shown(linear(), {.stages = 2, .groups = 1, .cluster = 2}, kLinear);
  EXPECT_GOLDEN("linear_cluster_roles", text.roles);
  EXPECT_GOLDEN("linear_cluster_timeline", text.timeline);
}

TEST(ShowText, BlocksThatDrawTheirTiles) {
  const Shown text = shown(linear(), {.stages = 2, .groups = 1, .grid = Grid::counter}, kLinear);
  EXPECT_GOLDEN("linear_counter_roles", text.roles);
  EXPECT_GOLDEN("linear_counter_memory", text.memory.substr(0, text.memory.find("registers of")));
  EXPECT_GOLDEN("linear_counter_timeline", text.timeline);
}

TEST(ShowText, GroupsThatTakeTurns) {
  const Sizes call = {{"B", 2}, {"H", 16}, {"G", 16}, {"I", 4096}, {"J", 4096}, {"D", 64}, {"E", 64}};
  const Shown text = shown(causal_attention(), {.stages = 2, .share = Share::turns}, call, {0.125, 0, 1});
  EXPECT_GOLDEN("attention_turns_roles", text.roles);
  EXPECT_GOLDEN("attention_turns_memory", text.memory.substr(0, text.memory.find("registers of")));
  EXPECT_GOLDEN("attention_turns_timeline", text.timeline);
}

TEST(ShowText, WithoutRolesSaysWhy) {
  const Shown text = shown(linear(), {.warps = 4}, {{"M", 64}, {"N", 64}, {"K", 128}});
  EXPECT_EQ(
      text.roles,
      "linear on sm_90a: 4 warps without roles; why its dots are not wgmma: the schedule has 4 warps, each "
      "for itself; they are mma, of 2 x 2 warps\n");
  EXPECT_GOLDEN("linear_block_timeline", text.timeline);
}

TEST(ShowText, TellsTilesThatAreAddedFromThoseThatAreStored) {
  using namespace dsl;
  Builder p("sums");
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", bf16, {M, K}), b = p.in("b", bf16, {N, K});
  Out out = p.out("out", f32, {M, N}), rows = p.out("rows", f32, {M});
  Axis m = p.grid(M, 64), n = p.grid(N, 32), k = p.all(K, 64);
  Tile product = dot(a(m, k), b(n, k), k);
  out(m, n) += product;
  rows(m) += reduce_sum(product, n);
  const Shown text = shown(p.finish(), {}, {{"M", 64}, {"N", 32}, {"K", 64}});
  EXPECT_NE(text.roles.find("consumer: bulk additions to out"), std::string::npos) << text.roles;
  for (const char* words : {"  adds out 0 to out[0, 0]", "  adds to rows[0]\n"})
    EXPECT_NE(text.timeline.find(words), std::string::npos) << words << " in\n" << text.timeline;
}

TEST(ShowText, NamesRolesThatAreAlikeByTheirNumbers) {
  const std::string text = timeline(test::program("twice_roles"), kTarget, {}, {});
  for (const char* words : {"\n  step  producer  ", "  consumer of role 1  ", "  consumer of role 2\n",
                            "k 0: waits for out 0 (consumer of role 1)\n"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " in\n" << text;
}

}  // namespace
}  // namespace tessera::tools
