#pragma once
#include <functional>
#include <optional>
#include <string>
#include <torch/csrc/autograd/autograd.h>
#include <vector>

#include "tessera/ops.h"
#include "tessera/policy.h"
#include "tests/gpu/gpu.h"

/// Gradients of ours against those of ATen's formulas in fp64.
namespace tessera::test {

using Tensors = std::vector<at::Tensor>;
using Function = std::function<at::Tensor(const Tensors&)>;

struct Operation {
  std::string name;
  Function ours, aten;
  Tensors inputs;
};

inline at::Tensor attend(const Tensors& t, bool causal) {
  return tessera::scaled_dot_product_attention(t[0], t[1], t[2], {}, 0, causal, {},
                                               t[0].size(1) != t[1].size(1));
}
inline at::Tensor attend_in_aten(const Tensors& t, bool causal) {
  return std::get<0>(at::_scaled_dot_product_attention_math(t[0], t[1], t[2], {}, 0, causal, {}, {},
                                                            t[0].size(1) != t[1].size(1)));
}

inline Operation attention(const std::string& name, bool causal, Tensors inputs) {
  return {name, [=](const Tensors& t) { return attend(t, causal); },
          [=](const Tensors& t) { return attend_in_aten(t, causal); }, std::move(inputs)};
}

/// The same through flash_attention.
inline Operation flash_attention(const std::string& name, bool causal, Tensors inputs) {
  return {name,
          [=](const Tensors& t) { return std::get<0>(tessera::flash_attention(t[0], t[1], t[2], causal)); },
          [=](const Tensors& t) { return attend_in_aten(t, causal); }, std::move(inputs)};
}

/// [B, H, I, D] by [B, G, J, D].
inline Tensors heads(at::ScalarType dtype, int64_t B, int64_t H, int64_t G, int64_t I, int64_t J, int64_t D) {
  return {normal({B, H, I, D}, dtype, 1), normal({B, G, J, D}, dtype, 2), normal({B, G, J, D}, dtype, 3)};
}

inline Tensors leaves(const Tensors& values, at::ScalarType dtype) {
  Tensors all;
  for (const at::Tensor& t : values) all.push_back(t.detach().to(dtype).requires_grad_());
  return all;
}

inline double tolerance_of(at::ScalarType dtype) {  // of a gradient
  return 4 * (dtype == at::kFloat ? 1e-5 : dtype == at::kHalf ? 2e-3 : 1.6e-2);
}

inline void expect_close(const at::Tensor& got, const at::Tensor& expected, double tolerance) {
  ASSERT_TRUE(got.defined());
  ASSERT_EQ(got.sizes(), expected.sizes());
  EXPECT_TRUE(at::allclose(got.to(at::kDouble), expected.to(at::kDouble), tolerance, tolerance));
}

using GradOf = std::function<at::Tensor(const at::Tensor& output)>;
inline at::Tensor normal_like(const at::Tensor& output) {
  return normal(output.sizes(), output.scalar_type(), 9);
}

/// Under the environment's policy, and under `native`, where the graph is ATen's.
inline void expect_gradients(const Operation& op, const GradOf& grad_of = normal_like) {
  const at::ScalarType dtype = op.inputs[0].scalar_type();
  for (const std::optional<Policy> policy : {std::optional<Policy>(), std::optional(Policy::native)}) {
    SCOPED_TRACE(op.name + (policy.has_value() ? " under native" : ""));
    set_policy(policy);
    const Tensors ours = leaves(op.inputs, dtype), wide = leaves(op.inputs, at::kDouble);
    dirty_allocator();
    const at::Tensor output = op.ours(ours), expected = op.aten(wide), grad = grad_of(output.detach());
    expect_close(output.detach(), expected.detach(), tolerance_of(dtype) / 4);
    const Tensors got = torch::autograd::grad({output}, ours, {grad});
    const Tensors want = torch::autograd::grad({expected}, wide, {grad.to(at::kDouble)});
    for (std::size_t i = 0; i < got.size(); ++i) {
      SCOPED_TRACE(i);
      EXPECT_EQ(got[i].scalar_type(), dtype);
      expect_close(got[i], want[i], tolerance_of(dtype));
    }
  }
  set_policy({});
}

constexpr at::ScalarType kDtypes[] = {at::kFloat, at::kHalf, at::kBFloat16};

}  // namespace tessera::test
