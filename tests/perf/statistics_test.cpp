#include "perf/statistics.h"

#include <gtest/gtest.h>

#include "tile_core/base/error.h"

namespace tessera::perf {
namespace {

TEST(Statistics, TheMedianOfAnEvenNumberLiesBetweenTwoValues) {
  const Summary summary = summarize({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(summary.median, 2.5);
  EXPECT_DOUBLE_EQ(summary.lower, 1.75);
  EXPECT_DOUBLE_EQ(summary.upper, 3.25);
  EXPECT_EQ(summary.count, 4);
}

TEST(Statistics, OneValueIsItsOwnSummary) {
  EXPECT_EQ(summarize({7}), (Summary{7, 7, 7, 1}));
}

TEST(Statistics, AnOutlierMovesNeitherMedianNorQuartiles) {
  EXPECT_DOUBLE_EQ(summarize({1, 1, 1, 1, 1000}).median, 1);
  EXPECT_DOUBLE_EQ(summarize({1, 1, 1, 1, 1000}).upper, 1);
}

TEST(Statistics, TheGeometricMeanOfARatioAndItsInverseIsOne) {
  EXPECT_DOUBLE_EQ(geometric_mean({4, 0.25}), 1);
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
}

TEST(Statistics, NoValuesAreAnError) {
  EXPECT_THROW(summarize({}), InternalError);
  EXPECT_THROW(geometric_mean({}), InternalError);
  EXPECT_THROW(geometric_mean({1, 0}), InternalError);
}

}  // namespace
}  // namespace tessera::perf
