#include "tile_core/runtime/cache_entry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/tile_core/runtime/fake_cubin.h"

namespace tessera {
namespace {

using test::fake_cubin;

TEST(CacheEntry, ReadsWhatWasWritten) {
  const Cubin written = fake_cubin("add");
  const DecodedEntry entry = decode_entry(encode_entry(written), written.key);
  ASSERT_TRUE(entry.cubin) << entry.problem;
  const Cubin& read = *entry.cubin;
  EXPECT_EQ(read.key, written.key);
  EXPECT_EQ(read.kernel, "add");
  EXPECT_EQ(read.arch, "sm_90a");
  EXPECT_EQ(read.nvrtc, "13.0");
  EXPECT_EQ(read.image, written.image);
  EXPECT_EQ(read.log, written.log);
  EXPECT_EQ(read.registers, 24);
  EXPECT_EQ(read.stack_bytes, 8);
  EXPECT_EQ(read.spill_bytes, 16);
  EXPECT_EQ(read.compile_ms, 1.5);
}

TEST(CacheEntry, EveryTruncationIsRejected) {
  const Cubin cubin = fake_cubin("add");
  const std::string bytes = encode_entry(cubin);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const DecodedEntry entry = decode_entry(std::string_view(bytes).substr(0, length), cubin.key);
    ASSERT_FALSE(entry.cubin) << length;
    ASSERT_FALSE(entry.problem.empty()) << length;
  }
  EXPECT_EQ(decode_entry(bytes.substr(0, 100), cubin.key).problem,
            fmt::format("has 100 bytes instead of {}", bytes.size()));
  EXPECT_FALSE(decode_entry(bytes + "x", cubin.key).cubin);
}

TEST(CacheEntry, EveryChangedByteIsRejected) {
  const Cubin cubin = fake_cubin("add");
  std::string bytes = encode_entry(cubin);
  for (char& byte : bytes) {
    byte = static_cast<char>(byte ^ 0x20);
    ASSERT_FALSE(decode_entry(bytes, cubin.key).cubin);
    byte = static_cast<char>(byte ^ 0x20);
  }
  EXPECT_TRUE(decode_entry(bytes, cubin.key).cubin);
}

// B111: a renamed entry.
TEST(CacheEntry, B111AnotherKernelsEntryIsRejected) {
  const DecodedEntry entry = decode_entry(encode_entry(fake_cubin("add")), fake_cubin("linear").key);
  EXPECT_FALSE(entry.cubin);
  EXPECT_EQ(entry.problem, "holds another kernel (add for sm_90a)");
}

TEST(CacheEntry, BytesThatAreNoTextSurviveInTheImageAndAreReplacedInTheLog) {
  Cubin cubin = fake_cubin("add");
  cubin.image += std::string("\0\n\xff", 3);
  cubin.log = "caf\xe9";
  const DecodedEntry entry = decode_entry(encode_entry(cubin), cubin.key);
  ASSERT_TRUE(entry.cubin) << entry.problem;
  EXPECT_EQ(entry.cubin->image, cubin.image);
  EXPECT_EQ(entry.cubin->log, "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace tessera
