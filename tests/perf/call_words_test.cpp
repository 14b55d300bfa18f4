#include "perf/call_words.h"

#include <gtest/gtest.h>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

TEST(CallWords, ReadsEveryOption) {
  const CallSpec spec = call_from_text(
      "scaled_dot_product_attention 2x16x4096x128 --mask added --kv-heads 4 --kv-length 77 --dtype "
      "f16");
  EXPECT_EQ(spec.op, "scaled_dot_product_attention");
  EXPECT_EQ(spec.shape, (std::vector<std::int64_t>{2, 16, 4096, 128}));
  EXPECT_TRUE(call_from_text("flash_attention 1x2x3x4 --causal").causal);
  EXPECT_EQ(spec.mask, CallSpec::Mask::added);
  EXPECT_EQ(spec.kv_heads, 4);
  EXPECT_EQ(spec.kv_length, 77);
  EXPECT_EQ(spec.dtype, f16);
}

TEST(CallWords, ItsTextReadsBack) {
  for (const char* text :
       {"add 8x1x3 --other 5x3 --dtype f32", "softmax 4x5x6 --dim 1 --dtype bf16",
        "linear 3x4x5 --no-bias --dtype f16", "linear 3x4x5 --dtype f32 --tf32",
        "linear_gelu 3x4x5 --approximate tanh --dtype bf16", "linear_gelu 3x4x5 --training --dtype f16",
        "flash_attention 1x2x3x4 --causal --kv-heads 1 --dtype f32",
        "scaled_dot_product_attention 1x2x3x4 --mask bool --dtype f32"}) {
    EXPECT_EQ(to_text(call_from_text(text)), text);
  }
}

TEST(CallWords, AttentionIsAShorterName) {
  EXPECT_EQ(to_text(call_from_text("attention 1x2x3x4")),
            "scaled_dot_product_attention 1x2x3x4 --dtype bf16");
}

TEST(CallWords, AShapeMayHaveSizesOfZero) {
  EXPECT_EQ(call_from_text("add 0x3").shape, (std::vector<std::int64_t>{0, 3}));
}

TEST(CallWords, WhatIsNoCallIsAnError) {
  for (const char* text : {"", "add", "gelu 3x4", "add 3y4", "add 3x4 5x6", "linear 3x4",
                           "softmax 3x4 --causal", "linear 3x4x5 --tf32", "linear 3x4x5 --training",
                           "attention 1x2x3x4 --dtype f32 --tf32", "add 3x4 --dtype i64", "add 3x4 --bogus",
                           "add 4x4 --other 3x4", "softmax 4x4 --dim 7", "add 3x-4", "softmax 3x4 --dim x"}) {
    EXPECT_THROW(call_from_text(text), UserError) << text;
  }
  try {
    call_from_text("gelu 3x4");
    ADD_FAILURE() << "it was read";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "'gelu 3x4' is no call: no operator is called 'gelu'; there are add, linear, linear_gelu, softmax, "
        "scaled_dot_product_attention, flash_attention");
  }
}

}  // namespace
}  // namespace tessera
