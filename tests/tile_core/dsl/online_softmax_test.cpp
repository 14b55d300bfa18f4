#include "tile_core/dsl/online_softmax.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tile_core/dsl/math.h"
#include "tile_core/interpreter/buffer.h"
#include "tile_core/interpreter/interpreter.h"

namespace tessera {
namespace {

using namespace dsl;
using Values = std::vector<double>;

constexpr std::int64_t kKeys = 41;
constexpr double kScale = 0.25;

/// Every row's mean of `value`, weighted by the softmax of its scores, and the logarithm of the sum.
Program weighted_mean(Maximum maximum, bool scaled) {
  Builder p("weighted_mean");
  Dim M = p.dim("M"), J = p.dim("J");
  In score = p.in("score", f32, {M, J}), value = p.in("value", f32, {J});
  Out mean = p.out("mean", f32, {M}), logsumexp = p.out("logsumexp", f32, {M}),
      rises = p.out("rises", f32, {M});
  Tile scale = p.scalar("scale", f32);
  Axis m = p.grid(M, 4);
  OnlineSoftmax row = scaled ? OnlineSoftmax(p, {m}, scale, maximum) : OnlineSoftmax(p, {m}, maximum);
  Var sum = p.zeros(f32, {m}), risen = p.zeros(f32, {m});
  for (Axis j : p.pipelined(J, 8)) {
    Tile weights = row.weights(scaled ? score(m, j) : score(m, j) * scale, j);
    sum = rescale(sum, row.keep()) + reduce_sum(weights * value(j), j);
    risen += where(row.keep() < 1, p.full(f32, {m}, 1), 0);
  }
  mean(m) = sum * row.inverse_total();
  logsumexp(m) = row.logsumexp();
  rises(m) = risen;
  return p.finish();
}

/// Scores that grow in every tile, by little and by much, that fall, that are far apart, and that are -inf at
/// first, in the end, and always.
std::vector<Values> adversarial_rows() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<Values> rows;
  for (double slope : {0.0, 0.25, 4.0, 400.0, -4.0, -400.0}) {
    Values row;
    for (std::int64_t j = 0; j < kKeys; ++j) row.push_back(slope * static_cast<double>(j));
    rows.push_back(row);
  }
  Values late(kKeys, -kInfinity), early(kKeys, -kInfinity), jumps(kKeys, -1e30);
  for (std::size_t j = 0; j < 7; ++j) late[kKeys - 1 - j] = early[j] = 21.0 * static_cast<double>(j);
  jumps[20] = 1e30;
  rows.insert(rows.end(), {late, early, jumps, Values(kKeys, -kInfinity)});
  return rows;
}

class OnlineSoftmaxes : public ::testing::TestWithParam<std::pair<Maximum, bool>> {};

TEST_P(OnlineSoftmaxes, HoldOnAdversarialScores) {
  const auto [maximum, scaled] = GetParam();
  const std::vector<Values> rows = adversarial_rows();
  const auto count = static_cast<std::int64_t>(rows.size());
  Buffer score(f32, {count, kKeys}), value(f32, {kKeys}), mean(f32, {count}), logsumexp(f32, {count}),
      rises(f32, {count});
  Values all, values;
  for (const Values& row : rows) all.insert(all.end(), row.begin(), row.end());
  for (std::int64_t j = 0; j < kKeys; ++j) values.push_back(std::sin(static_cast<double>(j)));
  score.set(all), value.set(values);
  interpret(weighted_mean(maximum, scaled),
            {score.view(), value.view(), mean.view(), logsumexp.view(), rises.view()}, {kScale});
  // The scores of row 1 grow by 2.5 in all, less than ln 2^8; those of row 3 by 800 a tile.
  EXPECT_EQ(rises.get()[1], maximum == Maximum::exact ? 6 : 1);
  EXPECT_EQ(rises.get()[3], 6);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double top = *std::max_element(rows[i].begin(), rows[i].end());
    double total = 0, sum = 0;
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      const double weight = std::isinf(top) ? 0 : std::exp((rows[i][j] - top) * kScale);
      total += weight, sum += weight * values[j];
    }
    EXPECT_NEAR(mean.get()[i], total > 0 ? sum / total : 0, 1e-5) << "row " << i;
    if (total == 0) {
      EXPECT_EQ(logsumexp.get()[i], top) << "row " << i;
    } else {
      const double expected = top * kScale + std::log(total);
      EXPECT_NEAR(logsumexp.get()[i], expected, 2e-6 * std::max(1.0, std::fabs(expected))) << "row " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Maxima, OnlineSoftmaxes,
                         ::testing::Values(std::pair(Maximum::exact, false), std::pair(Maximum::exact, true),
                                           std::pair(Maximum::lazy, false), std::pair(Maximum::lazy, true)));

}  // namespace
}  // namespace tessera
