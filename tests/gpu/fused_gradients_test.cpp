#include <ATen/Context.h>

#include "tests/gpu/gradients.h"
#include "tests/support/swallow.h"

/// Gradients where ATen's choice of a fused attention is another one: on a GPU that has fewer of them, or by
/// the flags of torch.backends.cuda.
namespace tessera::test {
namespace {

/// ATen's fused kernels that may be chosen, as long as it lives.
class WithKernels {
 public:
  WithKernels(bool cudnn, bool flash) {
    at::globalContext().setSDPUseCuDNN(cudnn);
    at::globalContext().setSDPUseFlash(flash);
  }
  ~WithKernels() {
    at::globalContext().setSDPUseCuDNN(true);
    at::globalContext().setSDPUseFlash(true);
  }
  WithKernels(const WithKernels&) = delete;
  WithKernels& operator=(const WithKernels&) = delete;
};

struct Shape {
  int64_t H, G, I, J, D;
};

/// Lengths that differ under a causal mask, which the flash kernels do not take.
TEST(GradientBugs, OfEveryFusedKernel) {
  TESSERA_NEEDS_GPU();
  for (const auto& [cudnn, flash] : {std::pair{true, true}, {false, true}, {false, false}}) {
    const WithKernels kernels(cudnn, flash);
    for (const at::ScalarType dtype : kDtypes) {
      for (const Shape& s : {Shape{2, 2, 3, 124, 120},
                             {4, 2, 5, 199, 96},
                             {6, 6, 70, 180, 40},
                             {2, 2, 1, 150, 64},
                             {2, 1, 130, 130, 128}}) {
        for (const bool causal : {false, true}) {
          const std::string name = c10::str(s.I, " x ", s.J, " of ", s.D, causal ? ", causal, " : ", ", dtype,
                                            cudnn ? "" : ", no cuDNN", flash ? "" : ", no flash");
          const Tensors t = heads(dtype, 2, s.H, s.G, s.I, s.J, s.D);
          expect_gradients(attention(name, causal, t));
          expect_gradients(flash_attention("flash " + name, causal, t));
        }
      }
    }
  }
}

void expect_no_gradients(const std::optional<Policy>& policy) {
  set_policy(policy);
  for (const at::ScalarType dtype : kDtypes) {
    for (const Operation& op : {attention("attention", false, heads(dtype, 1, 2, 2, 33, 33, 64)),
                                flash_attention("flash", true, heads(dtype, 1, 2, 2, 33, 33, 64))}) {
      const Tensors inputs = leaves(op.inputs, dtype);
      Swallow::apply(op.ours(inputs)).sum().backward();
      for (const at::Tensor& input : inputs)
        EXPECT_TRUE(!input.grad().defined() || !input.grad().any().item<bool>()) << op.name;
    }
  }
  set_policy({});
}

TEST(GradientBugs, B85_UndefinedGradients) {
  TESSERA_NEEDS_GPU();
  expect_no_gradients({});
}

/// cuDNN's node gives memory as it was allocated for them.
TEST(GradientBugs, B85_UndefinedGradientsInAtensGraph) {
  TESSERA_NEEDS_GPU();
  expect_no_gradients(Policy::native);
}

}  // namespace
}  // namespace tessera::test
