#include "tile_core/runtime/digest.h"

#include <gtest/gtest.h>
#include <set>

#include "tile_core/base/sha256.h"

namespace tessera {
namespace {

TEST(Digest, IsSha256) {  // FIPS 180-2, appendix B.1
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// B111: every part tells keys apart, the architecture too.
TEST(Digest, B111KeyCoversEveryPart) {
  const std::set<std::string> keys = {
      kernel_key("text", {"-a"}, "sm_90a", "13.0"), kernel_key("texts", {"-a"}, "sm_90a", "13.0"),
      kernel_key("text", {"-b"}, "sm_90a", "13.0"), kernel_key("text", {}, "sm_90a", "13.0"),
      kernel_key("text", {"-a"}, "sm_80", "13.0"),  kernel_key("text", {"-a"}, "sm_90a", "12.9"),
      kernel_key("tex", {"t-a"}, "sm_90a", "13.0"),
  };
  EXPECT_EQ(keys.size(), 7U);
  EXPECT_EQ(kernel_key("text", {"-a"}, "sm_90a", "13.0"), kernel_key("text", {"-a"}, "sm_90a", "13.0"));
}

TEST(Digest, KnowsItsNames) {
  EXPECT_TRUE(is_digest(sha256("")));
  EXPECT_FALSE(is_digest("notes"));
  EXPECT_FALSE(is_digest(std::string(64, 'G')));
}

}  // namespace
}  // namespace tessera
