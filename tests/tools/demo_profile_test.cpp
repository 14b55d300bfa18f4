#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tessera/ops.h"
#include "tools/demo/gpu_time.h"

namespace tessera::demo {
namespace {

constexpr int kRuns = 3;

/// Two calls of operators, and one that is not ours.
void run() {
  const at::Tensor x = at::ones({64, 64});
  tessera::softmax(tessera::add(x, x), 1).mul(2);
}

TEST(Profile, CountsTheOperatorsCalls) {
  const KernelShare share = profile(run);
  EXPECT_EQ(share.calls, 2 * kRuns);
  EXPECT_EQ(share.generated_kernels, 0);
  EXPECT_EQ(share.of_calls(), 0);
}

}  // namespace
}  // namespace tessera::demo
