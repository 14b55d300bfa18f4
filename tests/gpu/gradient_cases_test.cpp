#include <ATen/autocast_mode.h>

#include "tests/gpu/gradients.h"

/// Public bug cases of gradients, by their number in docs/bug_cases.md: ours against ATen's formulas in fp64.
namespace tessera::test {
namespace {

std::vector<Operation> operations(at::ScalarType dtype) {
  const Tensors linear = {normal({5, 8}, dtype, 4), normal({8, 8}, dtype, 5), normal({8}, dtype, 6)};
  return {{"linear", [](auto& t) { return tessera::linear(t[0], t[1], t[2]); },
           [](auto& t) { return at::linear(t[0], t[1], t[2]); }, linear},
          {"gelu", [](auto& t) { return tessera::linear_gelu(t[0], t[1], t[2]); },
           [](auto& t) { return at::gelu(at::linear(t[0], t[1], t[2])); }, linear},
          {"tanh", [](auto& t) { return tessera::linear_gelu(t[0], t[1], t[2], "tanh"); },
           [](auto& t) { return at::gelu(at::linear(t[0], t[1], t[2]), "tanh"); }, linear},
          {"softmax",
           [](auto& t) { return tessera::softmax(t[0], -1); },
           [](auto& t) { return at::softmax(t[0], -1); },
           {linear[0]}},
          attention("attention", false, heads(dtype, 2, 4, 4, 5, 7, 8)),
          attention("causal", true, heads(dtype, 2, 4, 2, 5, 7, 8)),
          flash_attention("flash", false, heads(dtype, 2, 4, 2, 5, 7, 40)),
          flash_attention("causal flash", true, heads(dtype, 2, 4, 4, 7, 7, 20))};
}

TEST(GradientBugs, B15_B23_StridedGradients) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : kDtypes) {
    for (const Operation& op : operations(dtype)) {
      expect_gradients(op, [](const at::Tensor& y) {
        std::vector<int64_t> sizes = y.sizes().vec();
        sizes.back() *= 2;
        return normal(sizes, y.scalar_type(), 9).slice(-1, 0, sizes.back(), 2);
      });
      expect_gradients(op, [](const at::Tensor& y) {  // a part of a wider gradient
        std::vector<int64_t> sizes = y.sizes().vec();
        sizes.back() *= 2;
        return normal(sizes, y.scalar_type(), 9).chunk(2, -1)[1];
      });
    }
    expect_gradients(
        attention("transposed", false, heads(dtype, 2, 4, 4, 32, 32, 128)), [](const at::Tensor& y) {
          return normal({y.size(0), y.size(2), y.size(1), y.size(3)}, y.scalar_type(), 9).transpose(1, 2);
        });
  }
}

TEST(GradientBugs, B16_ExpandedGradients) {
  TESSERA_NEEDS_GPU();
  for (const Operation& op : operations(at::kFloat)) {
    expect_gradients(op, [](const at::Tensor& y) { return at::ones({}, y.options()).expand(y.sizes()); });
    const Tensors inputs = leaves(op.inputs, at::kFloat);
    op.ours(inputs).mean().backward();
    for (const at::Tensor& t : inputs) EXPECT_TRUE(t.grad().defined()) << op.name;
  }
}

/// The same values one element further in memory.
at::Tensor shifted(const at::Tensor& t) {
  return at::cat({t.flatten().slice(0, 0, 1), t.flatten()}).slice(0, 1).view(t.sizes());
}

TEST(GradientBugs, B20_UnalignedPointers) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : kDtypes) {
    std::vector<Operation> all = operations(dtype);
    all.push_back(attention("larger attention", true, heads(dtype, 1, 2, 2, 64, 64, 64)));
    for (const bool first : {true, false}) {  // in both orders
      for (const Operation& op : all) {
        if (first) expect_gradients(op);
        Operation moved = op;
        for (at::Tensor& t : moved.inputs) t = shifted(t);
        expect_gradients(moved, [](const at::Tensor& y) { return shifted(normal_like(y)); });
        if (!first) expect_gradients(op);
      }
    }
  }
}

TEST(GradientBugs, B65_B67_B69_EmptyTensors) {
  TESSERA_NEEDS_GPU();
  const auto check = [](const Function& run, const Tensors& inputs) {
    run(inputs).sum().backward();
    for (const at::Tensor& t : inputs) EXPECT_TRUE(at::equal(t.grad(), at::zeros_like(t)));
  };
  for (const auto& [batch, count] : {std::pair<int64_t, int64_t>{0, 3}, {3, 0}}) {
    for (const at::ScalarType dtype : kDtypes) {
      const Tensors t = heads(dtype, batch, count, count, 5, 7, 8);
      check([](auto& x) { return attend(x, false); }, leaves(t, dtype));
      check([](auto& x) { return attend(x, true); }, leaves(t, dtype));
      const at::Tensor mask = normal({5, 7}, dtype, 4);
      check([&](auto& x) { return tessera::scaled_dot_product_attention(x[0], x[1], x[2], mask); },
            leaves(t, dtype));
    }
  }
  check([](auto& t) { return tessera::linear_gelu(t[0], t[1], t[2]); },
        leaves({normal({0, 21}, at::kHalf, 1), normal({4, 21}, at::kHalf, 2), normal({4}, at::kHalf, 3)},
               at::kHalf));
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{10, 0}, {0, 2}, {4, 0, 0}})
    check([](auto& t) { return tessera::softmax(t[0], -1); },
          leaves({normal(sizes, at::kFloat, 1)}, at::kFloat));
}

TEST(GradientBugs, B75_SoftmaxGradientHasTheInputsDtype) {
  TESSERA_NEEDS_GPU();
  for (int64_t dim = 0; dim < 4; ++dim) {
    const at::Tensor x = normal({2, 2, 2, 2}, at::kHalf, 1).requires_grad_(),
                     w = normal({2, 2, 2, 2}, at::kFloat, 2);
    const at::Tensor wide = x.detach().to(at::kDouble).requires_grad_();
    (tessera::softmax(x, dim, at::kFloat) * w).sum().backward();
    (at::softmax(wide, dim) * w).sum().backward();
    EXPECT_EQ(x.grad().scalar_type(), at::kHalf);
    expect_close(x.grad(), wide.grad(), 2e-3);
  }
}

TEST(GradientBugs, B81_B85_OnlyThoseAskedFor) {
  TESSERA_NEEDS_GPU();
  for (const Operation& op : operations(at::kFloat)) {
    for (unsigned subset = 1; subset < 1U << op.inputs.size(); ++subset) {
      Tensors inputs = leaves(op.inputs, at::kFloat);
      for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].set_requires_grad((subset >> i & 1U) != 0);
      const at::Tensor output = op.ours(inputs);
      EXPECT_TRUE(output.requires_grad() && output.grad_fn() != nullptr) << op.name;
      output.sum().backward();
      for (std::size_t i = 0; i < inputs.size(); ++i)
        EXPECT_EQ(inputs[i].grad().defined(), (subset >> i & 1U) != 0) << op.name << " " << subset;
    }
  }
}

TEST(GradientBugs, B82_SecondDerivativesAreRightOrAnError) {
  TESSERA_NEEDS_GPU();
  const auto second = [](const Function& f, const Tensors& inputs) {
    const Tensors first =
        torch::autograd::grad({f(inputs).square().sum()}, inputs, {}, {}, /*create_graph=*/true);
    at::Tensor total = first[0].square().sum();
    for (std::size_t i = 1; i < first.size(); ++i) total = total + first[i].square().sum();
    return torch::autograd::grad({total}, inputs);
  };
  for (const Operation& op : operations(at::kFloat)) {
    Tensors got;
    try {
      got = second(op.ours, leaves(op.inputs, at::kFloat));
    } catch (const c10::Error& error) {
      EXPECT_NE(std::string(error.what()).find("is not implemented"), std::string::npos) << error.what();
      continue;
    }
    const Tensors expected = second(op.aten, leaves(op.inputs, at::kDouble));
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double size = expected[i].abs().max().item<double>();
      EXPECT_LT((got[i].to(at::kDouble) - expected[i]).abs().max().item<double>(), 1e-3 * (1 + size))
          << op.name;
    }
  }
}

TEST(GradientBugs, B89_SmallGradients) {
  TESSERA_NEEDS_GPU();
  for (const Operation& op : operations(at::kFloat)) expect_gradients(op);
  expect_gradients(attention("attention", false, heads(at::kFloat, 1, 2, 2, 3, 3, 4)));
  expect_gradients(attention("grouped heads", true, heads(at::kFloat, 1, 2, 1, 3, 3, 4)));
}

struct Autocast {
  explicit Autocast(at::ScalarType dtype) : was(at::autocast::get_autocast_dtype(at::kCUDA)) {
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    at::autocast::set_autocast_dtype(at::kCUDA, dtype);
  }
  ~Autocast() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    at::autocast::set_autocast_dtype(at::kCUDA, was);
  }
  at::ScalarType was;
};

TEST(GradientBugs, B132_MixedDtypesUnderAutocast) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType lower : {at::kHalf, at::kBFloat16}) {
    const Tensors t = heads(at::kFloat, 1, 2, 2, 5, 7, 8);
    const Tensors matrices =
        leaves({normal({5, 8}, at::kFloat, 1), normal({4, 8}, at::kFloat, 2)}, at::kFloat);
    const Autocast on(lower);
    EXPECT_EQ(attend({t[0], t[1], t[2].to(lower)}, false).scalar_type(), lower);
    EXPECT_EQ(tessera::softmax(t[0].to(lower), -1).scalar_type(), at::kFloat);
    const at::Tensor y = tessera::linear_gelu(matrices[0], matrices[1]);
    EXPECT_EQ(y.scalar_type(), lower);
    y.sum().backward();
    for (const at::Tensor& leaf : matrices) EXPECT_EQ(leaf.grad().scalar_type(), at::kFloat);
  }
}

TEST(GradientBugs, B137_CallsLeaveTheirInputsAndRepeat) {
  TESSERA_NEEDS_GPU();
  for (const Operation& op : operations(at::kHalf)) {
    SCOPED_TRACE(op.name);
    const Tensors inputs = leaves(op.inputs, at::kHalf);
    Tensors kept;
    for (const at::Tensor& t : inputs) kept.push_back(t.detach().clone());
    const at::Tensor first = op.ours(inputs), grad = normal_like(first), kept_grad = grad.clone();
    expect_same_bits(first.detach(), op.ours(inputs).detach());
    first.backward(grad);
    for (std::size_t i = 0; i < inputs.size(); ++i) expect_same_bits(inputs[i].detach(), kept[i]);
    expect_same_bits(grad, kept_grad);
  }
}

}  // namespace
}  // namespace tessera::test
