#include "tile_core/base/nearest.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Nearest, CountsChanges) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

TEST(Nearest, OffersWhatIsNear) {
  EXPECT_EQ(nearest_hint("softmx", {"add", "softmax"}), "; the nearest is softmax");
  EXPECT_EQ(nearest_hint("gemm", {"add", "softmax"}), "");
  EXPECT_EQ(nearest_hint("gemm", {}), "");
}

}  // namespace
}  // namespace tessera
