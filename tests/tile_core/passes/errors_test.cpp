#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tile_core/base/error.h"
#include "tile_core/dsl/math.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

using namespace dsl;

/// a b^T in tiles of rows x columns, summed up in steps of that depth.
Program product_of(const char* name, int rows, int columns, int depth, DType dtype) {
  Builder p(name);
  Dim M = p.dim("M"), N = p.dim("N"), K = p.dim("K");
  In a = p.in("a", dtype, {M, K}), b = p.in("b", dtype, {N, K});
  Out out = p.out("out", dtype, {M, N});
  Axis m = p.grid(M, rows), n = p.grid(N, columns);
  Var acc = p.zeros(f32, {m, n});
  for (Axis k : p.pipelined(K, depth)) acc += dot(a(m, k), b(n, k), k);
  out(m, n) = cast(dtype, acc);
  return p.finish();
}

Program product(int tile, DType dtype = f32, int depth = 64) {
  return product_of("product", tile, tile, depth, dtype);
}

Program halves(int rows, int columns, int depth) {
  return product_of("halves", rows, columns, depth, bf16);
}

std::string error_of(const Program& program, const PassContext& context) {
  try {
    lower(program, context);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

PassContext context(Schedule schedule, const char* arch, DType dtype = f32) {
  const TensorFacts facts{.dtype = dtype, .contiguous_dim = 1, .alignment = 16};
  return {{.tensors = {facts, facts, facts}, .flags = {}}, schedule, Target::named(arch)};
}

TEST(PassErrors, SayWhatOfTheScheduleIsIllegal) {
  EXPECT_EQ(error_of(product(64), context({.stages = 9, .warps = 3, .blocks = 17, .vector = 3}, "sm_90a")),
            "tile error: schedule 'stages=9 warps=3 blocks=17 vector=3' is illegal for 'product' on sm_90a\n"
            "   stages: stages is 9, and must be 1 to 8 or automatic\n"
            "   warps: warps is 3, and must be a power of two up to 32 or automatic\n"
            "   blocks: blocks is 17, and must be 1 to 16 or automatic\n"
            "   vector: vector is 3 bytes, and must be 1, 2, 4, 8, 16 or automatic");
  EXPECT_EQ(error_of(product(64), context({.warps = 32, .blocks = 8}, "sm_90a")),
            "tile error: schedule 'warps=32 blocks=8' is illegal for 'product' on sm_90a\n"
            "   blocks fit the registers: 8 blocks of 32 warps leave less than 16 registers a thread of "
            "sm_90a's 65536");
  PassContext old = context({.stages = 2}, "sm_90a");
  old.target.cp_async = false;
  EXPECT_EQ(error_of(product(64), old),
            "tile error: schedule 'stages=2' is illegal for 'product' on sm_90a\n"
            "   stages need cp.async: stages is 2, and sm_90a has no asynchronous copies");
}

TEST(PassErrors, SayWhyGroupsCannotDoDots) {
  EXPECT_EQ(
      error_of(product(64), context({.groups = 2}, "sm_90a")),
      "tile error: schedule 'groups=2' is illegal for 'product' on sm_90a\n"
      "   warpgroups do dots: groups=2 is for wgmma, and dots are not: the dot over 'k': its operands are "
      "f32 and f32");
  EXPECT_EQ(error_of(product(64), context({.groups = 1}, "sm_80")),
            "tile error: schedule 'groups=1' is illegal for 'product' on sm_80\n"
            "   warpgroups do dots: groups=1 is for wgmma, and dots are not: sm_80 has no wgmma");
  EXPECT_EQ(error_of(product(64), context({.share = Share::turns, .lag = Lag::one}, "sm_80")),
            "tile error: schedule 'share=turns lag=one' is illegal for 'product' on sm_80\n"
            "   warpgroups do dots: share=turns lag=one is for wgmma, and dots are not: sm_80 has no wgmma");
}

TEST(PassErrors, SayHowTheFactsDiffer) {
  PassContext c = context({}, "sm_90a");
  c.facts.tensors[1].dtype = bf16;
  EXPECT_EQ(error_of(product(64), c),
            "tile error: schedule 'automatic' is illegal for 'product' on sm_90a\n"
            "   dtypes agree: tensor 'b' is bf16 in the call and f32 in the program");
  c.facts.tensors.resize(2);
  c.facts.tensors[1].dtype = f32;
  EXPECT_EQ(error_of(product(64), c),
            "tile error: schedule 'automatic' is illegal for 'product' on sm_90a\n"
            "   facts name every tensor: the call has 2 tensors, and the program declares 3");
}

TEST(PassErrors, SayWhatFillsTheSharedMemory) {
  EXPECT_EQ(
      error_of(product(128), context({.stages = 3}, "sm_120a")),
      "tile error: shared memory: 208896 bytes needed, sm_120a has 101376 ('product', schedule stages=3)\n"
      "   3 x 34816 bytes for f32[m:128, k:64] x 3 · 3 x 34816 bytes for f32[n:128, k:64] x 3\n"
      "   help: smaller tiles, or fewer stages: stages=1 needs 69632 bytes");
}

TEST(PassErrors, SayWhatIsTooMuchOfATileForOneThread) {
  EXPECT_EQ(
      error_of(product(256, f32, 8), context({.warps = 1}, "sm_90a")),
      "tile error: schedule 'warps=1' is illegal for 'product' on sm_90a\n"
      "   threads hold parts of tiles: f32[m:256, n:256] is 2048 elements in each of 32 threads, and 1024 "
      "are "
      "the most: take smaller tiles, more warps, or extents that a larger power of two divides: threads "
      "share those");
  EXPECT_EQ(error_of(product(256, f32, 8), context({.warps = 2}, "sm_90a")), "no error");
  EXPECT_EQ(
      error_of(product(64, f32, 256), context({.stages = 1, .warps = 1, .vector = 4}, "sm_90a")),
      "tile error: schedule 'stages=1 warps=1 vector=4' is illegal for 'product' on sm_90a\n"
      "   threads copy parts of tiles: f32[m:64, k:256] is 512 copies by each of 32 threads, and 256 are the "
      "most: take smaller tiles, more warps, or a tensor whose rows are contiguous and aligned");
  EXPECT_EQ(error_of(product(64, f32, 256), context({.stages = 1, .warps = 2, .vector = 4}, "sm_90a")),
            "no error");
}

/// What no power of two divides stands whole in every thread.
TEST(PassErrors, SayThatThreadsCannotShareAnOddExtent) {
  const auto sums = [](int tile) {
    Builder p("sums");
    Dim M = p.dim("M"), N = p.dim("N");
    In x = p.in("x", f32, {M, N});
    Out out = p.out("out", f32, {M});
    Axis m = p.grid(M, 1), n = p.all(N, tile);
    out(m) = reduce_sum(x(m, n), n);
    const TensorFacts facts{.dtype = f32, .contiguous_dim = 1, .alignment = 16};
    return error_of(p.finish(), {{.tensors = {facts, facts}, .flags = {}}, {}, Target::named("sm_90a")});
  };
  EXPECT_EQ(
      sums(4999),
      "tile error: schedule 'automatic' is illegal for 'sums' on sm_90a\n"
      "   threads hold parts of tiles: f32[m:1, n:4999] is 4999 elements in each of 64 threads, and 1024 "
      "are the most: take smaller tiles, more warps, or extents that a larger power of two divides: threads "
      "share those");
  EXPECT_EQ(sums(5120), "no error");
}

/// ptxas compiles the whole kernel for the registers that its threads leave at the launch.
TEST(PassErrors, SayThatTheSumsOfADotDoNotFitTheRegisters) {
  const auto error = [](int rows, int columns, const Schedule& schedule) {
    return error_of(halves(rows, columns, 16), context(schedule, "sm_90a", bf16));
  };
  EXPECT_EQ(error(64, 112, {.blocks = 2, .share = Share::alternate}),
            "tile error: schedule 'blocks=2 share=alternate' is illegal for 'halves' on sm_90a\n"
            "   dots fit the registers: 2 blocks of 12 warps leave 80 registers a thread, and the dot that "
            "makes f32[m:64, "
            "n:112] needs 56 for its sums and 26 more: take fewer columns, fewer groups or fewer blocks");
  EXPECT_EQ(error(64, 104, {.blocks = 2, .share = Share::alternate}), "no error");
  EXPECT_EQ(
      error(256, 256, {.groups = 4}),
      "tile error: schedule 'groups=4' is illegal for 'halves' on sm_90a\n"
      "   dots fit the registers: 1 blocks of 20 warps leave 96 registers a thread, and the dot that makes "
      "f32[m_group:64, n:256] needs 128 for its sums and 26 more: take fewer columns, fewer groups or "
      "fewer blocks");
  EXPECT_EQ(error(256, 64, {.blocks = 2, .groups = 2}), "no error") << "two instructions of 32 sums each";
}

/// Of roles: the slots that stores go through, and the barriers, are there however many stages there are.
TEST(PassErrors, SayHowManyStagesFitBesideStores) {
  const Program program = halves(128, 256, 64);
  const TensorFacts facts{.dtype = bf16, .contiguous_dim = 1, .alignment = 16, .bulk = true};
  const auto with = [&](int stages) {
    return PassContext{
        {.tensors = {facts, facts, facts}, .flags = {}}, {.stages = stages}, Target::named("sm_90a")};
  };
  EXPECT_EQ(
      error_of(program, with(5)),
      "tile error: shared memory: 278608 bytes needed, sm_90a has 232448 ('halves', schedule stages=5)\n"
      "   5 x 16384 bytes for bf16[m:128, k:64] x 5 · 5 x 32768 bytes for bf16[n:256, k:64] x 5 · 4 x 8192 "
      "bytes "
      "for bf16[m_group:64, n_slice:64] x 4\n"
      "   help: smaller tiles, or fewer stages: stages=4 needs 229440 bytes, stages=3 needs 180272 bytes, "
      "stages=2 needs 131104 bytes, stages=1 needs 81936 bytes");
  for (const auto& [stages, bytes] : {std::pair{4, 229440}, {3, 180272}, {2, 131104}, {1, 81936}})
    EXPECT_EQ(lower(program, with(stages)).launch.shared_bytes, bytes);
}

TEST(PassErrors, SayHowManyBlocksFillTheSharedMemory) {
  const Schedule three{.stages = 1, .blocks = 3};
  EXPECT_EQ(lower(product(128), context(three, "sm_90a")).launch.shared_bytes, 69632);
  EXPECT_EQ(
      error_of(product(128), context({.stages = 1, .blocks = 4}, "sm_90a")),
      "tile error: shared memory: 69632 bytes needed, sm_90a has 57344 for each of 4 blocks ('product', "
      "schedule stages=1 blocks=4)\n"
      "   1 x 34816 bytes for f32[m:128, k:64] x 1 · 1 x 34816 bytes for f32[n:128, k:64] x 1\n"
      "   help: smaller tiles or fewer blocks");
}

/// Two where they fit.
TEST(Pipeline, StagesAreAsManyAsTheSharedMemoryTakes) {
  auto bytes = [](const Schedule& schedule, const char* arch) {
    return lower(product(128), context(schedule, arch)).launch.shared_bytes;
  };
  EXPECT_EQ(bytes({}, "sm_90a"), 139264);
  EXPECT_EQ(bytes({}, "sm_120a"), 69632);
  EXPECT_EQ(bytes({.blocks = 2}, "sm_90a"), 69632);
}

/// Four of roles, or what fits; with them go what stores leave through, and barriers.
TEST(Pipeline, StagesOfRolesAreAsManyAsTheSharedMemoryTakes) {
  auto bytes = [](int tile, const Schedule& schedule) {
    return lower(product(tile, bf16), context(schedule, "sm_90a", bf16)).launch.shared_bytes;
  };
  constexpr int kStores = 2 * 2 * 64 * 128;
  EXPECT_EQ(bytes(128, {}), 4 * (2 * 128 * 128 + 16) + kStores);
  EXPECT_EQ(bytes(256, {}), 3 * (2 * 256 * 128 + 16) + kStores);
  EXPECT_EQ(bytes(256, {.stages = 2}), 2 * (2 * 256 * 128 + 16) + kStores);
  EXPECT_EQ(
      error_of(product(256, bf16, 128), context({}, "sm_90a", bf16)),
      "tile error: shared memory: 294944 bytes needed, sm_90a has 232448 ('product', schedule automatic)\n"
      "   2 x 65536 bytes for bf16[m:256, k:128] x 2 · 2 x 65536 bytes for bf16[n:256, k:128] x 2 · 4 x "
      "8192 bytes for bf16[m_group_slice:64, n_slice:64] x 4\n"
      "   help: smaller tiles, or fewer stages: stages=1 needs 163856 bytes");
}

TEST(PassErrors, SayThatAReducedAxisIsNeverIndexed) {
  Builder p("counts");
  Dim M = p.dim("M"), N = p.dim("N");
  In x = p.in("x", f32, {M, N});
  Out out = p.out("out", f32, {M}), sizes = p.out("sizes", f32, {M});
  Axis m = p.grid(M, 16), n = p.all(N, 32), other = p.all(N, 32);
  out(m) = reduce_sum(x(m, n), n);
  int line = __LINE__ + 1;
  sizes(m) = reduce_sum(p.full(f32, {other}, 1), other);
  EXPECT_EQ(error_of(p.finish(), context({}, "sm_90a")),
            fmt::format("tile error: axis 'n2' is reduced, but nothing is indexed with it\n  --> {}:{}\n"
                        "   help: read a tensor with the axis, or use its index()",
                        __FILE__, line));
}

}  // namespace
}  // namespace tessera
