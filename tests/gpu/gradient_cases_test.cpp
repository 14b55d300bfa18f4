#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "tessera/ops.h"
#include "tests/gpu/gpu.h"

/// Public bug cases of gradients, by their number in docs/bug_cases.md: ours against ATen's formulas in fp64.
namespace tessera::test {
namespace {

using Tensors = std::vector<at::Tensor>;
using Function = std::function<at::Tensor(const Tensors&)>;

struct Operation {
  std::string name;
  Function ours, aten;
  Tensors inputs;
};

at::Tensor attend(const Tensors& t, bool causal) {
  return tessera::scaled_dot_product_attention(t[0], t[1], t[2], {}, 0, causal, {},
                                               t[0].size(1) != t[1].size(1));
}
at::Tensor attend_in_aten(const Tensors& t, bool causal) {
  return std::get<0>(at::_scaled_dot_product_attention_math(t[0], t[1], t[2], {}, 0, causal, {}, {},
                                                            t[0].size(1) != t[1].size(1)));
}

Operation attention(const std::string& name, bool causal, Tensors inputs) {
  return {name, [=](const Tensors& t) { return attend(t, causal); },
          [=](const Tensors& t) { return attend_in_aten(t, causal); }, std::move(inputs)};
}

/// [B, H, I, D] by [B, G, J, D].
Tensors heads(at::ScalarType dtype, int64_t B, int64_t H, int64_t G, int64_t I, int64_t J, int64_t D) {
  return {normal({B, H, I, D}, dtype, 1), normal({B, G, J, D}, dtype, 2), normal({B, G, J, D}, dtype, 3)};
}

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
          attention("causal", true, heads(dtype, 2, 4, 2, 5, 7, 8))};
}

Tensors leaves(const Tensors& values, at::ScalarType dtype) {
  Tensors all;
  for (const at::Tensor& t : values) all.push_back(t.detach().to(dtype).requires_grad_());
  return all;
}

double tolerance_of(at::ScalarType dtype) {  // of a gradient
  return 4 * (dtype == at::kFloat ? 1e-5 : dtype == at::kHalf ? 2e-3 : 1.6e-2);
}

void expect_close(const at::Tensor& got, const at::Tensor& expected, double tolerance) {
  ASSERT_TRUE(got.defined());
  ASSERT_EQ(got.sizes(), expected.sizes());
  EXPECT_TRUE(at::allclose(got.to(at::kDouble), expected.to(at::kDouble), tolerance, tolerance));
}

using GradOf = std::function<at::Tensor(const at::Tensor& output)>;
at::Tensor normal_like(const at::Tensor& output) {
  return normal(output.sizes(), output.scalar_type(), 9);
}

void expect_gradients(const Operation& op, const GradOf& grad_of = normal_like) {
  SCOPED_TRACE(op.name);
  const at::ScalarType dtype = op.inputs[0].scalar_type();
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

constexpr at::ScalarType kDtypes[] = {at::kFloat, at::kHalf, at::kBFloat16};

TEST(GradientBugs, B03_AttentionOfLengthsThatNoTileDivides) {
  TESSERA_NEEDS_GPU();
  for (const int64_t S : {1, 2, 3, 47, 63, 65, 127, 129, 200, 296, 333}) {
    for (const bool causal : {false, true})
      expect_gradients(attention(c10::str(S, causal), causal, heads(at::kHalf, 1, 2, 2, S, S, 96)));
  }
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

TEST(GradientBugs, B41_NanBehindTheLastKey) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : kDtypes) {
    at::Tensor buffer = normal({4, 1, 2, 64, 64}, dtype, 1);
    buffer.slice(3, 33).fill_(NAN);
    const at::Tensor part = buffer.slice(3, 0, 33);
    expect_gradients(attention("in front of NaN", false, {part[0], part[1], part[2]}),
                     [&](const at::Tensor&) { return part[3]; });
  }
}

TEST(GradientBugs, B47_RowsWithoutKeys) {
  TESSERA_NEEDS_GPU();
  for (const auto& [rows, keys] : {std::pair<int64_t, int64_t>{5, 2}, {130, 3}, {4, 0}}) {
    const Tensors t = leaves(heads(at::kHalf, 1, 2, 2, rows, keys, 16), at::kHalf);
    const auto [output, logsumexp] = tessera::flash_attention(t[0], t[1], t[2], true, keys - rows);
    output.sum().backward();
    const int64_t blind = rows - keys;
    EXPECT_TRUE(t[0].grad().slice(2, 0, blind).eq(0).all().item<bool>());
    EXPECT_TRUE(logsumexp.slice(2, 0, blind).eq(-INFINITY).all().item<bool>());
    for (const at::Tensor& leaf : t) EXPECT_TRUE(at::isfinite(leaf.grad()).all().item<bool>());
  }
}

TEST(GradientBugs, B53_SharedKeysGetTheSum) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf}) {
    const Tensors t = heads(dtype, 1, 8, 1, 33, 40, 64);
    expect_gradients(attention("one key head", false, t));
    const Tensors one = leaves(t, dtype), many = leaves(t, dtype);
    attend(one, false).sum().backward();
    attend({many[0], many[1].expand({1, 8, 40, 64}), many[2].expand({1, 8, 40, 64})}, false).sum().backward();
    for (std::size_t i = 0; i < 3; ++i) expect_close(one[i].grad(), many[i].grad(), tolerance_of(dtype));
  }
}

/// Scores of deviation 27, with and without shared keys and a mask, of head dims that ATen's fused kernel
/// takes and that it does not.
TEST(GradientBugs, B53_LargeScoresInF32ErrAsAtens) {
  TESSERA_NEEDS_GPU();
  struct Shape {
    int64_t H, G, I, J, D;
    bool causal;
  };
  for (const Shape& s : {Shape{3, 1, 183, 1, 135, false},
                         {3, 1, 173, 79, 79, false},
                         {6, 2, 129, 16, 55, true},
                         {3, 1, 59, 152, 176, false},
                         {2, 2, 131, 44, 191, true},
                         {8, 2, 100, 333, 128, false}}) {
    SCOPED_TRACE(c10::str(s.H, " on ", s.G, ", ", s.I, " x ", s.J, " of ", s.D));
    double ours = 0, atens = 0, largest = 0;
    for (int call = 0; call < 5; ++call) {
      Tensors x = heads(at::kFloat, 2, s.H, s.G, s.I, s.J, s.D);
      x[0] = at::roll(x[0], call) * 2 * std::sqrt(static_cast<double>(s.D));
      const at::Tensor grad = normal({2, s.H, s.I, s.D}, at::kFloat, 9);
      const auto gradients = [&](const auto& attend_by, at::ScalarType dtype) {
        const Tensors t = leaves(x, dtype);
        return torch::autograd::grad({attend_by(t, s.causal)}, t, {grad.to(dtype)});
      };
      const Tensors exact = gradients(attend_in_aten, at::kDouble), got = gradients(attend, at::kFloat),
                    native = gradients(attend_in_aten, at::kFloat);
      const auto error = [&](const Tensors& found, std::size_t i) {
        return (found[i] - exact[i]).abs().max().item<double>();
      };
      for (std::size_t i = 0; i < exact.size(); ++i) {
        ours = std::max(ours, error(got, i));
        atens = std::max(atens, error(native, i));
        largest = std::max(largest, exact[i].abs().max().item<double>());
      }
    }
    EXPECT_LE(ours, 1.5 * atens + 1e-6 * largest);
  }
}

TEST(GradientBugs, B57_HeadDimsBetweenTiles) {
  TESSERA_NEEDS_GPU();
  for (const int64_t D : {8, 16, 24, 40, 48, 56, 72, 80, 88, 96, 104, 112, 120, 136, 160, 192, 224}) {
    for (int call = 0; call < 2; ++call) {  // the second meets what the first left behind
      Tensors t = heads(at::kBFloat16, 1, 2, 2, 512, 512, D);
      if (call == 1) t = {t[1], t[2], t[0]};
      expect_gradients(attention(c10::str("D ", D), false, t));
    }
  }
}

TEST(GradientBugs, B65_B67_B69_EmptyTensors) {
  TESSERA_NEEDS_GPU();
  const auto check = [](const Function& run, const Tensors& inputs) {
    run(inputs).sum().backward();
    for (const at::Tensor& t : inputs) EXPECT_TRUE(at::equal(t.grad(), at::zeros_like(t)));
  };
  for (const auto& [batch, count] : {std::pair<int64_t, int64_t>{0, 3}, {3, 0}})
    check([](auto& t) { return attend(t, false); },
          leaves(heads(at::kHalf, batch, count, count, 5, 7, 8), at::kHalf));
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

struct Deterministic {
  explicit Deterministic(bool on) { at::globalContext().setDeterministicAlgorithms(on, /*warn_only=*/false); }
  ~Deterministic() { at::globalContext().setDeterministicAlgorithms(false, false); }
};

TEST(GradientBugs, B90_AttentionIsTheSameEveryTime) {
  TESSERA_NEEDS_GPU();
  for (const bool on : {true, false}) {
    const Deterministic mode(on);
    Tensors kept;
    for (int run = 0; run < 20; ++run) {
      const Tensors t = leaves(heads(at::kBFloat16, 2, 8, 8, 1024, 1024, 128), at::kBFloat16);
      const at::Tensor output = attend(t, false);
      Tensors all = {output.detach()};
      if (on) {  // without it ATen says nothing of gradients
        for (const at::Tensor& g : torch::autograd::grad({output}, t, {normal_like(output)}))
          all.push_back(g);
      }
      if (run == 0) kept = all;
      for (std::size_t i = 0; i < all.size(); ++i) expect_same_bits(all[i], kept[i]);
    }
  }
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
