#include "tile_core/interpreter/interpreter.h"

#include <cmath>
#include <limits>

#include "tests/support/programs.h"
#include "tests/support/same_result.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/parse.h"

namespace tessera {
namespace {

using test::Call;
using test::program;
using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Worst difference, as a part of the largest magnitude of what is expected.
double error(const Values& actual, const Values& expected) {
  double worst = 0;
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    if (!std::isfinite(actual[i]) || !std::isfinite(expected[i])) return kInfinity;
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return worst == 0 ? 0 : worst / largest;
}

constexpr double kBf16 = 0x1p-8;
constexpr double kF16 = 0x1p-11;

Values gemm_reference(const std::vector<Values>& t, std::size_t M, std::size_t N, std::size_t K) {
  Values out;
  for (std::size_t m = 0; m < M; ++m) {
    for (std::size_t n = 0; n < N; ++n) {
      double sum = t[2][n];
      for (std::size_t k = 0; k < K; ++k) sum += t[0][m * K + k] * t[1][n * K + k];
      out.push_back(sum);
    }
  }
  return out;
}

class Gemm : public ::testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Stages, Gemm,
                         ::testing::Values("gemm_tile", "gemm_mapped", "gemm_masked", "gemm_placed",
                                           "gemm_laid_out", "gemm_device", "gemm_synced", "gemm_ready"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Gemm, GivesTheProductOnRaggedSizes) {
  for (std::int64_t K : {0, 1, 8, 13, 24, 33}) {
    Call call{{{"M", 21}, {"N", 45}, {"K", K}}};
    std::vector<Values> t = test::outputs(program(GetParam()), call);
    EXPECT_LE(error(t[3], gemm_reference(t, 21, 45, static_cast<std::size_t>(K))), kBf16) << "K = " << K;
  }
}

TEST_P(Gemm, IsTheTileProgramBitForBit) {
  for (std::int64_t K : {0, 1, 8, 16, 24, 25, 40}) {
    EXPECT_TRUE(
        test::same_result(program("gemm_tile"), program(GetParam()), {{{"M", 37}, {"N", 33}, {"K", K}}}))
        << "K = " << K;
  }
}

TEST_P(Gemm, TakesEmptyTensors) {
  EXPECT_TRUE(test::outputs(program(GetParam()), {{{"M", 0}, {"N", 5}, {"K", 3}}})[3].empty());
}

TEST(Interpreter, Softmax) {
  Call call{{{"R", 5}, {"N", 41}}};
  std::vector<Values> t = test::outputs(program("softmax_tile"), call);
  Values expected;
  for (std::size_t r = 0; r < 5; ++r) {
    double total = 0;
    for (std::size_t n = 0; n < 41; ++n) total += std::exp(t[0][r * 41 + n]);
    for (std::size_t n = 0; n < 41; ++n) expected.push_back(std::exp(t[0][r * 41 + n]) / total);
  }
  EXPECT_LE(error(t[1], expected), kF16);
}

TEST(Interpreter, ReductionsAcrossWarpsOnlyReorderSums) {
  for (std::int64_t N : {1, 31, 32, 33, 64}) {
    EXPECT_TRUE(
        test::same_result(program("softmax_tile"), program("softmax_ready"), {{{"R", 3}, {"N", N}}}, kF16))
        << "N = " << N;
  }
}

struct AttentionSizes {
  std::size_t I, J, D;
  std::int64_t diagonal;
};

/// o and lse, one after the other.
std::pair<Values, Values> attention_reference(const std::vector<Values>& t, const AttentionSizes& s,
                                              double scale) {
  Values o;
  Values lse;
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t i = 0; i < s.I; ++i) {
      auto row = [&](std::size_t tensor, std::size_t rows, std::size_t r) {
        return t[tensor].begin() + static_cast<std::ptrdiff_t>((h * rows + r) * s.D);
      };
      double total = 0;
      Values sum(s.D, 0.0);
      for (std::size_t j = 0;
           j < s.J && static_cast<std::int64_t>(j) <= static_cast<std::int64_t>(i) + s.diagonal; ++j) {
        double score = 0;
        for (std::size_t d = 0; d < s.D; ++d)
          score +=
              row(0, s.I, i)[static_cast<std::ptrdiff_t>(d)] * row(1, s.J, j)[static_cast<std::ptrdiff_t>(d)];
        double weight = std::exp(scale * score);
        total += weight;
        for (std::size_t d = 0; d < s.D; ++d)
          sum[d] += weight * row(2, s.J, j)[static_cast<std::ptrdiff_t>(d)];
      }
      for (double x : sum) o.push_back(total == 0 ? 0 : x / total);
      lse.push_back(std::log(total));
    }
  }
  return {o, lse};
}

class Attention : public ::testing::TestWithParam<AttentionSizes> {};
INSTANTIATE_TEST_SUITE_P(Sizes, Attention,
                         ::testing::Values(AttentionSizes{21, 21, 8, 0}, AttentionSizes{21, 43, 7, 22},
                                           AttentionSizes{5, 16, 3, -2}, AttentionSizes{16, 8, 8, 100},
                                           AttentionSizes{1, 1, 1, 0}, AttentionSizes{17, 30, 8, -30}));

TEST_P(Attention, GivesOutputAndLogsumexp) {
  const AttentionSizes& s = GetParam();
  Call call{{{"H", 2},
             {"I", static_cast<std::int64_t>(s.I)},
             {"J", static_cast<std::int64_t>(s.J)},
             {"D", static_cast<std::int64_t>(s.D)}},
            {{"scale", 0.375}, {"diagonal", static_cast<double>(s.diagonal)}}};
  std::vector<Values> t = test::outputs(program("attention_tile"), call);
  auto [o, lse] = attention_reference(t, s, 0.375);
  EXPECT_LE(error(t[3], o), 2 * kBf16);
  EXPECT_LE(error(t[4], lse), 1e-6);
  EXPECT_TRUE(test::same_result(program("attention_tile"), program("attention_synced"), call));
}

std::string message_of(const Program& p, std::vector<Buffer> tensors, const Values& scalars = {}) {
  std::vector<TensorView> views;
  for (Buffer& tensor : tensors) views.push_back(tensor.view());
  try {
    interpret(p, views, scalars);
  } catch (const UserError& error) {
    return error.what();
  }
  return "ran";
}

TEST(Interpreter, SaysWhichArgumentDoesNotFit) {
  Program p = program("softmax_tile");
  EXPECT_EQ(message_of(p, {Buffer(f16, {2, 3})}),
            "program softmax: expected 2 tensors and 0 scalars, but got 1 and 0");
  EXPECT_EQ(message_of(p, {Buffer(f16, {2, 3}), Buffer(f32, {2, 3})}),
            "program softmax: expected 'y' to be f16 of rank 2, but got f32 of rank 2");
  EXPECT_EQ(message_of(p, {Buffer(f16, {2, 3}), Buffer(f16, {2, 4})}),
            "program softmax: expected dim 1 of 'y' to be 3 (N), but got 4");
  EXPECT_EQ(
      message_of(p, {Buffer(f16, {2, 65}), Buffer(f16, {2, 65})}),
      "program softmax: one tile of 64 covers N, but its size is 65; choose a larger tile, or loop over the "
      "dim");
  EXPECT_EQ(message_of(parse("program p stage tile {\n  dim M\n  %0: i64 = size M\n}"), {}),
            "program p: dim M is of no tensor, so it has no size");
}

/// y[n] += the sums of x[m, n] over blocks of 4 rows.
Program column_sums() {
  return parse(R"(program sums stage tile {
  dim M
  dim N
  axis m:4 grid M
  axis n:16 all N
  in x: f32(M, N)
  out y: f32(N)
  grid m
  %0: f32[m:4, n:16] = load x(m, n)
  %1: f32[n:16] = reduce_sum<m> %0
  accumulate y(n), %1
}
)");
}

TEST(Sums, StartAsZero) {
  const std::vector<Values> t = test::outputs(column_sums(), {{{"M", 10}, {"N", 13}}});
  for (std::size_t n = 0; n < 13; ++n) {
    float sum = 0;
    for (std::size_t first = 0; first < 10; first += 4) {
      float tile = 0;
      for (std::size_t m = first; m < std::min<std::size_t>(first + 4, 10); ++m)
        tile += static_cast<float>(t[0][m * 13 + n]);
      sum += tile;
    }
    EXPECT_EQ(t[1][n], sum) << n;
  }
}

/// They would be zeros when the program reads them.
TEST(Sums, ShareNoMemoryWithWhatIsAddedUp) {
  std::vector<float> memory(20, 1);
  const auto error = [&](std::size_t at) -> std::string {
    const TensorView x{.data = memory.data(), .dtype = f32, .rank = 2, .sizes = {2, 3}, .strides = {5, 1}};
    const TensorView y{.data = memory.data() + at, .dtype = f32, .rank = 1, .sizes = {3}, .strides = {1}};
    try {
      interpret(column_sums(), {x, y}, {});
    } catch (const UserError& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string overlap =
      "program sums: 'y' starts as 0, and its memory and that of 'x' overlap; give it memory of its own";
  EXPECT_EQ(error(0), overlap);
  EXPECT_EQ(error(7), overlap);
  EXPECT_EQ(memory, std::vector<float>(20, 1)) << "nothing was written";
  EXPECT_EQ(error(8), "no error");
  EXPECT_EQ(memory[8], 2);
}

TEST(Sums, OfNoTilesAreZero) {
  EXPECT_EQ(test::outputs(column_sums(), {{{"M", 0}, {"N", 3}}})[1], Values(3, 0));
}

}  // namespace
}  // namespace tessera
