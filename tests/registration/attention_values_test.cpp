#include <cmath>
#include <limits>

#include "tessera/ops.h"
#include "tests/registration/support.h"

// Values of attention on the CPU: ATen's, and the interpreter's under policy tile. Names that begin with B
// are cases of public bug reports.
namespace tessera {
namespace {

using at::Tensor;
using testing::attention_in_fp64;
using testing::kFloats;
using testing::tolerance_of;
using testing::tril;

constexpr double kInf = std::numeric_limits<double>::infinity();

class AttentionValues : public testing::EitherPolicy {};
INSTANTIATE_TEST_SUITE_P(, AttentionValues, testing::kPolicies, testing::name_of_policy);

TEST_P(AttentionValues, AttentionMatchesFp64) {
  for (const at::ScalarType dtype : kFloats) {
    for (const auto& [rows, keys] : {std::pair{5, 9}, {33, 17}, {1, 20}, {1, 1}}) {
      const Tensor q = at::randn({2, 4, rows, 24}).to(dtype);
      const Tensor k = at::randn({2, 2, keys, 24}).to(dtype), v = at::randn({2, 2, keys, 24}).to(dtype);
      const auto full = attention_in_fp64(q, k, v), causal = attention_in_fp64(q, k, v, tril(rows, keys));
      const double tolerance = tolerance_of(dtype);
      EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v, {}, 0, false, {}, true), full.output,
                         tolerance);
      EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v, {}, 0, true, {}, true), causal.output,
                         tolerance);
      const auto [output, logsumexp] = tessera::flash_attention(q, k, v, true);
      EXPECT_NEAR_TENSOR(output, causal.output, tolerance);
      EXPECT_NEAR_TENSOR(logsumexp, causal.logsumexp, tolerance);
      EXPECT_EQ(logsumexp.scalar_type(), at::kFloat);
      EXPECT_TRUE(logsumexp.is_contiguous());
    }
  }
}

TEST_P(AttentionValues, WithoutAHeadDimEveryKeyWeighsTheSame) {
  const Tensor q = at::randn({1, 2, 3, 0}), k = at::randn({1, 2, 5, 0}), v = at::randn({1, 2, 5, 4});
  const Tensor causal =
      attention_in_fp64(at::zeros({1, 2, 3, 1}), at::zeros({1, 2, 5, 1}), v, tril(3, 5)).output;
  for (const std::optional<double> scale : {std::optional<double>(), {0.5}, {0.0}, {-1.0}, {kInf}}) {
    const Tensor mean = v.mean(2, true).expand({1, 2, 3, 4});
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v, {}, 0, false, scale), mean, 1e-6);
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v, {}, 0, true, scale), causal, 1e-6);
    const auto [output, logsumexp] = tessera::flash_attention(q, k, v, false, 0, scale);
    EXPECT_NEAR_TENSOR(output, mean, 1e-6);
    EXPECT_NEAR_TENSOR(logsumexp, at::full({1, 2, 3}, std::log(5.0)), 1e-6);
    EXPECT_NEAR_TENSOR(std::get<0>(tessera::flash_attention(q, k, v, true, 0, scale)), causal, 1e-6);
  }
  EXPECT_EQ(tessera::scaled_dot_product_attention(q, k, k).sizes(), at::IntArrayRef({1, 2, 3, 0}));
}

TEST_P(AttentionValues, B01_EveryKeyCounts) {
  for (const int64_t keys : {1, 7, 15, 17, 31, 33, 63, 65, 129}) {
    const Tensor q = at::zeros({1, 2, 4, 16}), k = at::randn({1, 2, keys, 16}),
                 v = at::randn({1, 2, keys, 16});
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v), v.mean(2, true).expand({1, 2, 4, 16}),
                       1e-5)
        << keys;
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, at::ones_like(v)), at::ones({1, 2, 4, 16}),
                       1e-6)
        << keys;
  }
}

TEST_P(AttentionValues, B18_InnermostStrideIsNotOne) {
  const auto transposed = [](at::ScalarType dtype) {
    return at::randn({2, 3, 16, 37}).to(dtype).transpose(-1, -2);
  };
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const Tensor q = transposed(dtype), k = transposed(dtype), v = transposed(dtype);
    const Tensor got = tessera::scaled_dot_product_attention(q, k, v, {}, 0, true);
    EXPECT_NEAR_TENSOR(got, attention_in_fp64(q, k, v, tril(37, 37)).output, tolerance_of(dtype));
    EXPECT_TRUE(got.is_contiguous());
  }
}

TEST_P(AttentionValues, B21_HeadsInWiderRows) {
  const auto head = [] { return at::randn({1, 2, 9, 43}).slice(3, 0, 40); };
  const Tensor q = head(), k = head(), v = head();
  EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v), attention_in_fp64(q, k, v).output, 1e-5);
}

TEST_P(AttentionValues, B13_PackedProjectionKeepsItsOrder) {
  const std::vector<Tensor> packed = at::randn({2, 9, 3, 4, 8}).unbind(2);  // [B, S, H, D] views
  const Tensor q = packed[0].transpose(1, 2), k = packed[1].transpose(1, 2), v = packed[2].transpose(1, 2);
  const Tensor got = tessera::scaled_dot_product_attention(q, k, v);
  EXPECT_NEAR_TENSOR(got, attention_in_fp64(q, k, v).output, 1e-5);
  EXPECT_TRUE(got.transpose(1, 2).is_contiguous());
  EXPECT_TRUE(std::get<0>(tessera::flash_attention(q, k, v)).transpose(1, 2).is_contiguous());
}

TEST_P(AttentionValues, B32_LargeScoresInHalf) {
  const Tensor q = at::full({1, 1, 33, 64}, 300.0).to(at::kHalf), v = at::randn({1, 1, 33, 64}).to(at::kHalf);
  EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, q, v),
                     v.to(at::kFloat).mean(2, true).expand({1, 1, 33, 64}), 2e-3);
  const Tensor causal = tessera::scaled_dot_product_attention(q, q, v, {}, 0, true);
  EXPECT_NEAR_TENSOR(causal, attention_in_fp64(q, q, v, tril(33, 33)).output, 2e-3);
}

/// Scores of 40 lose 2e-6 in f32, in whichever order they are summed: over many calls as much as ATen's do.
TEST_P(AttentionValues, LargeScoresErrAsAtens) {
  double ours = 0, atens = 0;
  for (int call = 0; call < 40; ++call) {
    const Tensor q = at::randn({1, 1, 17, 19}), k = at::randn({1, 1, 9, 19}), v = at::randn({1, 1, 9, 19});
    const Tensor expected = attention_in_fp64(q, k, v, {}, 2).output;
    const auto error = [&](const Tensor& got) { return (got - expected).abs().max().item<double>(); };
    ours += error(tessera::scaled_dot_product_attention(q, k, v, {}, 0, false, 2));
    atens += error(std::get<0>(at::_scaled_dot_product_attention_math(q, k, v, {}, 0, false, {}, 2)));
  }
  EXPECT_LE(ours, 1.5 * atens);
}

TEST_P(AttentionValues, B41_MemoryAfterTheLastKeyIsNan) {
  const auto padded = [] {
    const Tensor buffer = at::full({1, 2, 64, 16}, std::nan(""));
    buffer.slice(2, 0, 33).copy_(at::randn({1, 2, 33, 16}));
    return buffer.slice(2, 0, 33);
  };
  const Tensor q = padded(), k = padded(), v = padded();
  EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v), attention_in_fp64(q, k, v).output, 1e-5);
}

TEST_P(AttentionValues, B43_B45_CausalStartsAtTheTopLeft) {
  for (const auto& [rows, keys] : {std::pair{3, 128}, {2, 5}, {5, 2}, {1, 16}, {64, 65}}) {
    const Tensor q = at::zeros({1, 1, rows, 8}), k = at::randn({1, 1, keys, 8});
    const Tensor v = at::arange(keys, at::kFloat).view({1, 1, keys, 1}).expand({1, 1, keys, 8});
    const Tensor seen = at::arange(rows, at::kFloat).clamp_max(keys - 1);
    const Tensor expected = (seen / 2).view({1, 1, rows, 1}).expand({1, 1, rows, 8});
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v, {}, 0, true), expected, 1e-5)
        << rows << " " << keys;
    EXPECT_NEAR_TENSOR(std::get<0>(tessera::flash_attention(q, k, v, true)), expected, 1e-5)
        << rows << " " << keys;
  }
}

TEST_P(AttentionValues, DiagonalMovesTheCorner) {
  const Tensor q = at::randn({1, 4, 5, 8}), k = at::randn({1, 2, 9, 8}), v = at::randn({1, 2, 9, 8});
  for (const int64_t diagonal : {-100L, -5L, -2L, 0L, 1L, 4L, 8L, 100L, std::numeric_limits<int64_t>::max(),
                                 std::numeric_limits<int64_t>::min()}) {
    const auto expected = attention_in_fp64(q, k, v, tril(5, 9, std::clamp<int64_t>(diagonal, -9, 9)));
    const auto [output, logsumexp] = tessera::flash_attention(q, k, v, true, diagonal);
    EXPECT_NEAR_TENSOR(output, expected.output, 1e-5) << diagonal;
    EXPECT_NEAR_TENSOR(logsumexp, expected.logsumexp, 1e-5) << diagonal;
    const auto full = tessera::flash_attention(q, k, v, false, diagonal);
    EXPECT_NEAR_TENSOR(std::get<0>(full), attention_in_fp64(q, k, v).output, 1e-5);
  }
}

TEST_P(AttentionValues, B45_RowsBeforeTheFirstKey) {
  const Tensor q = at::randn({1, 2, 5, 8}), k = at::randn({1, 2, 2, 8}), v = at::randn({1, 2, 2, 8});
  const auto [output, logsumexp] = tessera::flash_attention(q, k, v, true, 2 - 5);
  EXPECT_TRUE(at::equal(output.slice(2, 0, 3), at::zeros({1, 2, 3, 8})));
  EXPECT_TRUE((logsumexp.slice(2, 0, 3) == -kInf).all().item<bool>());
  EXPECT_NEAR_TENSOR(output.select(2, 3), v.select(2, 0), 1e-6);
}

TEST_P(AttentionValues, B48_LogsumexpIsNatural) {
  const auto [output, logsumexp] =
      tessera::flash_attention(at::zeros({1, 1, 2, 16}), at::randn({1, 1, 8, 16}), at::randn({1, 1, 8, 16}));
  EXPECT_NEAR_TENSOR(logsumexp, at::full({1, 1, 2}, std::log(8.0)), 1e-6);
}

TEST_P(AttentionValues, B49_MasksAndRowsThatSeeNothing) {
  const Tensor q = at::randn({2, 4, 8, 16}), k = at::randn({2, 2, 8, 16}), v = at::randn({2, 2, 8, 16});
  const Tensor visible = at::rand({8, 8}) > 0.4, added = at::randn({2, 1, 8, 8});
  visible[3].fill_(false);
  added.select(2, 5).fill_(-kInf);
  for (const Tensor& mask :
       {visible, visible.expand({2, 1, 8, 8}), visible[2], visible.unsqueeze(0), added, added[0]}) {
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v, mask, 0, false, {}, true),
                       attention_in_fp64(q, k, v, mask).output, 1e-5);
  }
  const Tensor lowest = at::full({8, 8}, std::numeric_limits<float>::lowest());
  EXPECT_FALSE(
      tessera::scaled_dot_product_attention(q, k, v, lowest, 0, false, {}, true).isnan().any().item<bool>());
}

TEST_P(AttentionValues, B51_B53_HeadsShareKeysInOrder) {
  for (const auto& [heads, groups] : {std::pair{4, 2}, {8, 2}, {28, 4}, {12, 12}, {6, 1}}) {
    const Tensor q = at::randn({1, heads, 5, 16}), k = at::randn({1, groups, 5, 16});
    const Tensor v = at::arange(groups, at::kFloat).view({1, groups, 1, 1}).expand({1, groups, 5, 16});
    const Tensor expected =
        at::arange(heads).div(heads / groups, "floor").to(at::kFloat).view({1, heads, 1, 1});
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v, {}, 0, false, {}, true),
                       expected.expand({1, heads, 5, 16}), 1e-6);
    if (groups != 1) continue;
    EXPECT_NEAR_TENSOR(
        tessera::scaled_dot_product_attention(q, k.expand({1, heads, 5, 16}), v.expand({1, heads, 5, 16})),
        expected.expand({1, heads, 5, 16}), 1e-6);
  }
}

TEST_P(AttentionValues, ScaleOfAnySign) {
  const Tensor q = at::randn({1, 2, 6, 8}), k = at::randn({1, 2, 7, 8}), v = at::randn({1, 2, 7, 8});
  for (const double scale : {-1.0, 0.0, 1e-60, 1e-30, 0.3}) {
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v, {}, 0, false, scale),
                       attention_in_fp64(q, k, v, {}, scale).output, 1e-5);
    const auto causal = attention_in_fp64(q, k, v, tril(6, 7), scale);
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v, {}, 0, true, scale), causal.output,
                       1e-5);
    const auto [output, logsumexp] = tessera::flash_attention(q, k, v, true, 0, scale);
    EXPECT_NEAR_TENSOR(output, causal.output, 1e-5);
    EXPECT_NEAR_TENSOR(logsumexp, causal.logsumexp, 1e-5);
  }
}

TEST_P(AttentionValues, B55_B57_HeadDims) {
  for (const int64_t d : {1, 8, 21, 40, 72, 104, 128, 203, 256}) {
    const Tensor q = at::randn({1, 1, 3, d}), k = at::randn({1, 1, 5, d}), v = at::randn({1, 1, 5, d});
    EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, k, v), attention_in_fp64(q, k, v).output,
                       1e-5)
        << d;
  }
  const Tensor q = at::randn({1, 1, 3, 8}), k = at::randn({1, 1, 5, 8}), v = at::randn({1, 1, 5, 24});
  EXPECT_NEAR_TENSOR(std::get<0>(tessera::flash_attention(q, k, v)), attention_in_fp64(q, k, v).output, 1e-5);
}

TEST_P(AttentionValues, B65_AttentionOfEmptyTensors) {
  const auto of = [](int64_t b, int64_t h, int64_t s) { return at::randn({b, h, s, 8}); };
  for (const bool causal : {false, true}) {
    for (const auto& [b, h] : {std::pair{0, 3}, {3, 0}}) {
      EXPECT_EQ(
          tessera::scaled_dot_product_attention(of(b, h, 5), of(b, h, 7), of(b, h, 7), {}, 0, causal).sizes(),
          at::IntArrayRef({b, h, 5, 8}));
      EXPECT_EQ(std::get<1>(tessera::flash_attention(of(b, h, 5), of(b, h, 7), of(b, h, 7), causal)).sizes(),
                at::IntArrayRef({b, h, 5}));
    }
    EXPECT_EQ(
        tessera::scaled_dot_product_attention(of(2, 3, 0), of(2, 3, 7), of(2, 3, 7), {}, 0, causal).sizes(),
        at::IntArrayRef({2, 3, 0, 8}));
    const auto [output, logsumexp] = tessera::flash_attention(of(2, 3, 5), of(2, 3, 0), of(2, 3, 0), causal);
    EXPECT_TRUE(at::equal(output, at::zeros({2, 3, 5, 8})));
    EXPECT_TRUE((logsumexp == -kInf).all().item<bool>());
  }
}

// ---- ATen alone: sizes that the interpreter is too slow for, and what it does not do ----

TEST(NativeAttentionValues, LongComposedAttentionHoldsAFewRowsAtATime) {
  at::manual_seed(0);
  const Tensor q = at::randn({1, 2, 3000, 8}), k = at::randn({1, 2, 3100, 8}), v = at::randn({1, 2, 3100, 8});
  const auto [output, logsumexp] = tessera::flash_attention(q, k, v, true, 100);
  const auto expected = attention_in_fp64(q, k, v, tril(3000, 3100, 100));
  EXPECT_NEAR_TENSOR(output, expected.output, 1e-5);
  EXPECT_NEAR_TENSOR(logsumexp, expected.logsumexp, 1e-5);
}

TEST(NativeAttentionValues, B72_Fp64OnTheCpu) {
  const Tensor q = at::randn({1, 2, 5, 8}, at::kDouble);
  EXPECT_NEAR_TENSOR(tessera::scaled_dot_product_attention(q, q, q), attention_in_fp64(q, q, q).output,
                     1e-12);
}

TEST(NativeAttentionValues, DropoutIsAten) {
  const Tensor q = at::randn({1, 2, 5, 8});
  at::manual_seed(3);
  const Tensor expected = at::scaled_dot_product_attention(q, q, q, {}, 0.5);
  at::manual_seed(3);
  EXPECT_TRUE(at::equal(tessera::scaled_dot_product_attention(q, q, q, {}, 0.5), expected));
}

}  // namespace
}  // namespace tessera
