#include <fmt/format.h>

#include "perf/bench.h"
#include "perf/call_words.h"
#include "tests/gpu/gpu.h"

/// Every kernel that an operator offers, past the dispatch: which one runs must not decide whether the
/// results are right, an attention's logsumexp and in training linear_gelu's product among them.
namespace tessera::test {
namespace {

enum class Tensors { any, bulk };  ///< whether bulk copies can take the tensors of the calls

void expect_all_right(const std::vector<std::string>& calls, Tensors tensors = Tensors::bulk) {
  perf::Bench bench({}, [](const std::string&) {});
  for (const std::string& words : calls) {
    SCOPED_TRACE(words);
    bool any = false;
    for (const perf::Checked& checked : bench.check(call_from_text(words))) {
      if (!checked.legal && tensors == Tensors::any) continue;
      any = true;
      EXPECT_EQ(checked.failure, "") << autotune::to_text(checked.variant);
    }
    EXPECT_TRUE(any);
  }
}

TEST(OfferedKernels, OfLinearAreRight) {
  TESSERA_NEEDS_GPU();
  std::vector<std::string> calls;
  for (const char* shape : {"64x64x64", "128x64x256", "130x72x200", "1x4096x512", "333x520x776",
                            "1000x1000x1000", "5000x72x4104", "777x8x24", "4096x768x3072", "200x4096x8"}) {
    for (const char* dtype : {"bf16", "f16"}) {
      calls.push_back(fmt::format("linear {} --dtype {}", shape, dtype));
      calls.push_back(fmt::format("linear {} --no-bias --dtype {}", shape, dtype));
      calls.push_back(fmt::format("linear_gelu {} --dtype {}", shape, dtype));
      calls.push_back(fmt::format("linear_gelu {} --approximate tanh --dtype {}", shape, dtype));
      calls.push_back(fmt::format("linear_gelu {} --training --dtype {}", shape, dtype));
    }
  }
  expect_all_right(calls);
  expect_all_right({"linear 100x1001x777 --dtype bf16", "linear_gelu 333x520x777 --dtype f16",
                    "linear_gelu 100x1001x777 --training --dtype bf16",
                    "linear_gelu 333x520x776 --training --approximate tanh --dtype f32"},
                   Tensors::any);
}

TEST(OfferedKernels, OfLinearInTf32AreRight) {
  TESSERA_NEEDS_GPU();
  std::vector<std::string> calls;
  for (const char* shape :
       {"64x64x64", "130x72x200", "1000x1000x1000", "777x36x24", "4096x768x3072", "333x521x776"}) {
    for (const char* op : {"linear", "linear_gelu", "linear_gelu --training"})
      calls.push_back(fmt::format("{} {} --dtype f32 --tf32", op, shape));
  }
  expect_all_right(calls, Tensors::any);
}

TEST(OfferedKernels, OfAttentionAreRight) {
  TESSERA_NEEDS_GPU();
  std::vector<std::string> calls;
  for (int head_dim : {16, 40, 64, 96, 128, 192, 256}) {
    for (const char* rows : {"1", "64", "77", "300", "1024"}) {
      for (const char* more : {"", " --causal", " --kv-heads 2", " --kv-length 200 --causal"})
        calls.push_back(fmt::format("flash_attention 2x4x{}x{}{}", rows, head_dim, more));
    }
  }
  for (int head_dim : {64, 128, 256}) {
    for (const char* mask : {"bool", "added --dtype f16"})
      calls.push_back(fmt::format("scaled_dot_product_attention 2x4x300x{} --mask {}", head_dim, mask));
  }
  expect_all_right(calls);
  expect_all_right({"flash_attention 2x4x300x64 --causal --dtype f32"}, Tensors::any);
}

/// Few enough for compute-sanitizer.
TEST(OfferedKernels, OfSmallCallsAreRight) {
  TESSERA_NEEDS_GPU();
  expect_all_right({"linear 200x136x264 --dtype bf16", "linear_gelu 130x72x200 --dtype bf16",
                    "linear_gelu 130x72x200 --training --dtype bf16", "flash_attention 1x2x200x64 --causal",
                    "flash_attention 1x2x130x128", "scaled_dot_product_attention 1x1x100x64 --mask bool"});
}

}  // namespace
}  // namespace tessera::test
