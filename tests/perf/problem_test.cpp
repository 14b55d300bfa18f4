#include "perf/problem.h"

#include <gtest/gtest.h>

#include "perf/call_words.h"
#include "tile_core/base/error.h"

namespace tessera::perf {
namespace {

using Dims = std::map<std::string, std::int64_t, std::less<>>;

Dims dims_of(const char* text) {
  return call_of(call_from_text(text)).problem().dims;
}

TEST(Problem, HasTheProgramsDims) {
  EXPECT_EQ(dims_of("linear 6x4x5"), (Dims{{"M", 6}, {"K", 4}, {"N", 5}}));
  EXPECT_EQ(dims_of("add 6x4"), (Dims{{"D0", 24}}));  // neighbouring dims are one
  EXPECT_EQ(dims_of("softmax 6x4"), (Dims{{"O0", 6}, {"N", 4}}));
  EXPECT_EQ(dims_of("attention 1x6x8x16 --kv-heads 2 --kv-length 9"),
            (Dims{{"B", 1}, {"H", 6}, {"G", 2}, {"I", 8}, {"J", 9}, {"D", 16}, {"E", 16}}));
}

TEST(Problem, HasTheFlags) {
  const ops::Problem gelu =
      call_of(call_from_text("linear_gelu 6x4x5 --no-bias --approximate tanh")).problem();
  EXPECT_EQ(gelu.facts.flags, (Flags{{"bias", 0}, {"gelu", 2}, {"preactivation", 0}}));
  const ops::Problem training = call_of(call_from_text("linear_gelu 6x4x5 --training")).problem();
  EXPECT_EQ(training.facts.flags, (Flags{{"bias", 1}, {"gelu", 1}, {"preactivation", 1}}));
  EXPECT_EQ(training.facts.tensors.size(), gelu.facts.tensors.size() + 2);  // a bias and the product
  const ops::Problem masked = call_of(call_from_text("attention 1x2x8x16 --mask bool")).problem();
  EXPECT_EQ(masked.facts.flags, (Flags{{"causal", 0}, {"mask", 1}}));
  EXPECT_EQ(masked.facts.tensors.at(3).dtype, boolean);
}

TEST(Problem, WhatNoKernelSupportsIsAnError) {
  try {
    call_of(call_from_text("attention 1x2x8x512"));
    ADD_FAILURE() << "it is supported";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "no tile kernel can run scaled_dot_product_attention: head dim 512, above 256");
  }
}

}  // namespace
}  // namespace tessera::perf
