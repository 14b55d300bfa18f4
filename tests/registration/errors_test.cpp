#include "registration/private_ops.h"
#include "tessera/ops.h"
#include "tests/registration/support.h"

// What a call that does not fit is told, word for word. The checks are the same on every device; meta tensors
// show it.
namespace tessera {
namespace {

using testing::error_of;

class Errors : public ::testing::TestWithParam<at::DeviceType> {
 protected:
  static at::Tensor t(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
    return at::ones(sizes, at::TensorOptions().dtype(dtype).device(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(, Errors, ::testing::Values(at::kCPU, at::kMeta),
                         [](const auto& info) { return info.param == at::kCPU ? "cpu" : "meta"; });

TEST_P(Errors, Linear) {
  EXPECT_EQ(error_of([] {
              tessera::linear(t({}), t({3, 4}));
            }),
            "linear(): expected input of shape [*, K], but got []");
  EXPECT_EQ(error_of([] {
              tessera::linear(t({2, 4}), t({3, 5}));
            }),
            "linear(): expected weight of shape [N, 4] for input [2, 4], but got [3, 5]");
  EXPECT_EQ(error_of([] {
              tessera::linear(t({2, 4}), t({4}));
            }),
            "linear(): expected weight of shape [N, 4] for input [2, 4], but got [4]");
  EXPECT_EQ(error_of([] {
              tessera::linear(t({2, 4}), t({3, 4}, at::kHalf));
            }),
            "linear(): expected weight of input's dtype Float, but got Half");
}

TEST_P(Errors, B22_BiasOfAnotherShape) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 3}, {1}, {4}}) {
    std::ostringstream shown;
    shown << at::IntArrayRef(sizes);
    EXPECT_EQ(error_of([&] {
                tessera::linear_gelu(t({2, 4}), t({3, 4}), t(sizes));
              }),
              "linear_gelu(): expected bias of shape [3] for weight [3, 4], but got " + shown.str());
  }
}

TEST_P(Errors, Approximate) {
  EXPECT_EQ(error_of([] {
              tessera::linear_gelu(t({2, 4}), t({3, 4}), {}, "Tanh");
            }),
            "linear_gelu(): expected approximate to be 'none' or 'tanh', but got 'Tanh'");
}

TEST_P(Errors, B70_B71_SoftmaxDim) {
  EXPECT_EQ(error_of([] { tessera::softmax(t({}), 1); }),
            "softmax(): expected dim to be in [-1, 0], but got 1");
  EXPECT_EQ(error_of([] { tessera::softmax(t({3}), -2); }),
            "softmax(): expected dim to be in [-1, 0], but got -2");
  EXPECT_EQ(error_of([] { tessera::softmax(t({3}), 99); }),
            "softmax(): expected dim to be in [-1, 0], but got 99");
  EXPECT_EQ(error_of([] { tessera::softmax(t({3}), std::numeric_limits<int64_t>::min()); }),
            "softmax(): expected dim to be in [-1, 0], but got -9223372036854775808");
  EXPECT_EQ(error_of([] {
              tessera::softmax(t({2, 3}), 2);
            }),
            "softmax(): expected dim to be in [-2, 1], but got 2");
  EXPECT_THROW(tessera::softmax(t({2, 3}), 2), c10::IndexError);
  EXPECT_EQ(tessera::softmax(t({2, 3}), -2).dim(), 2);
}

TEST_P(Errors, B72_UnsupportedDtypes) {
  for (const at::ScalarType dtype : {at::kInt, at::kBool, at::kComplexFloat, at::kFloat8_e4m3fn}) {
    const std::string got =
        std::string(" of dtype Half, BFloat16, Float or Double, but got ") + c10::toString(dtype);
    const auto of = [&](at::IntArrayRef sizes) {
      return at::empty(sizes, at::TensorOptions().dtype(dtype).device(GetParam()));
    };
    EXPECT_EQ(error_of([&] { tessera::linear(of({2, 4}), of({3, 4})); }), "linear(): expected input" + got);
    EXPECT_EQ(error_of([&] {
                tessera::linear_gelu(of({2, 4}), of({3, 4}));
              }),
              "linear_gelu(): expected input" + got);
    EXPECT_EQ(error_of([&] { tessera::softmax(of({2, 4}), 0); }), "softmax(): expected self" + got);
    const at::Tensor q = of({1, 2, 3, 4});
    EXPECT_EQ(error_of([&] { tessera::scaled_dot_product_attention(q, q, q); }),
              "scaled_dot_product_attention(): expected query" + got);
    EXPECT_EQ(error_of([&] { tessera::flash_attention(q, q, q); }),
              "flash_attention(): expected query" + got);
  }
  EXPECT_EQ(error_of([] { tessera::softmax(t({3}), 0, at::kInt); }),
            "softmax(): expected dtype to be Half, BFloat16, Float or Double, but got Int");
}

TEST_P(Errors, UndefinedTensors) {
  const std::string got = " to be a tensor, but got an undefined one";
  const at::Tensor none, x = t({2, 4}), w = t({3, 4}), q = t({1, 2, 3, 4});
  for (const bool grad : {false, true}) {
    const at::Tensor input = grad ? x.detach().requires_grad_() : x,
                     query = grad ? q.detach().requires_grad_() : q;
    EXPECT_EQ(error_of([&] { tessera::add(none, none); }), "add(): expected self" + got);
    EXPECT_EQ(error_of([&] { tessera::add(input, none); }), "add(): expected other" + got);
    EXPECT_EQ(error_of([&] { tessera::add(none, input); }), "add(): expected self" + got);
    EXPECT_EQ(error_of([&] { tessera::linear(none, none); }), "linear(): expected input" + got);
    EXPECT_EQ(error_of([&] { tessera::linear(none, input); }), "linear(): expected input" + got);
    EXPECT_EQ(error_of([&] { tessera::linear(input, none); }), "linear(): expected weight" + got);
    EXPECT_EQ(error_of([&] { tessera::linear_gelu(input, none); }), "linear_gelu(): expected weight" + got);
    EXPECT_EQ(error_of([&] { tessera::linear_gelu(none, input); }), "linear_gelu(): expected input" + got);
    EXPECT_EQ(error_of([&] { tessera::softmax(none, 0); }), "softmax(): expected self" + got);
    EXPECT_EQ(error_of([&] { tessera::softmax(none, 0, at::kFloat); }), "softmax(): expected self" + got);
    const auto attention = [&](const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
      return error_of([&] { tessera::scaled_dot_product_attention(a, b, c); });
    };
    EXPECT_EQ(attention(none, none, none), "scaled_dot_product_attention(): expected query" + got);
    EXPECT_EQ(attention(query, none, query), "scaled_dot_product_attention(): expected key" + got);
    EXPECT_EQ(attention(query, query, none), "scaled_dot_product_attention(): expected value" + got);
    EXPECT_EQ(error_of([&] { tessera::flash_attention(none, query, query); }),
              "flash_attention(): expected query" + got);
    EXPECT_EQ(error_of([&] { tessera::flash_attention(query, query, none); }),
              "flash_attention(): expected value" + got);
  }
  EXPECT_EQ(error_of([&] { tessera::flash_attention_backward(q, q, q, q, q, none, false, 0, {}); }),
            "flash_attention_backward(): expected logsumexp" + got);
  const std::optional<at::Tensor> absent = none;  // as torch takes it: no bias, no mask
  EXPECT_EQ(tessera::linear(x, w, absent).sizes(), at::IntArrayRef({2, 3}));
  EXPECT_EQ(tessera::scaled_dot_product_attention(q, q, q, absent).sizes(), q.sizes());
}

TEST_P(Errors, B73_MixedDtypes) {
  const at::Tensor q = t({1, 2, 3, 4}), half = t({1, 2, 3, 4}, at::kHalf);
  EXPECT_EQ(error_of([&] { tessera::scaled_dot_product_attention(q, q, half); }),
            "scaled_dot_product_attention(): expected value of query's dtype Float, but got Half");
  EXPECT_EQ(error_of([&] {
              tessera::flash_attention(half, t({1, 2, 3, 4}, at::kBFloat16), half);
            }),
            "flash_attention(): expected key of query's dtype Half, but got BFloat16");
  EXPECT_EQ(error_of([] {
              tessera::linear_gelu(t({2, 4}, at::kBFloat16), t({3, 4}, at::kBFloat16), t({3}, at::kHalf));
            }),
            "linear_gelu(): expected bias of input's dtype BFloat16, but got Half");
}

TEST_P(Errors, B50_B54_HeadCounts) {
  const auto q = [](int64_t heads) { return t({1, heads, 5, 8}); };
  EXPECT_EQ(
      error_of([&] { tessera::scaled_dot_product_attention(q(3), q(2), q(2), {}, 0, false, {}, true); }),
      "scaled_dot_product_attention(): expected query's number of heads to be a multiple of key's, but "
      "got 3 and 2");
  EXPECT_EQ(
      error_of([&] { tessera::flash_attention(q(33), q(2), q(2)); }),
      "flash_attention(): expected query's number of heads to be a multiple of key's, but got 33 and 2");
  EXPECT_EQ(error_of([&] { tessera::flash_attention(q(2), q(3), q(3)); }),
            "flash_attention(): expected query's number of heads to be a multiple of key's, but got 2 and 3");
  EXPECT_EQ(error_of([&] { tessera::flash_attention(q(4), q(0), q(0)); }),
            "flash_attention(): expected query's number of heads to be a multiple of key's, but got 4 and 0");
  EXPECT_EQ(error_of([&] { tessera::scaled_dot_product_attention(q(8), q(2), q(2)); }),
            "scaled_dot_product_attention(): expected key to have query's 8 heads, or enable_gqa=True, but "
            "got 2 heads");
  EXPECT_EQ(
      error_of([&] { tessera::flash_attention(q(32), q(8), q(4)); }),
      "flash_attention(): expected value of shape [1, 8, 5, D_v] for key [1, 8, 5, 8], but got [1, 4, 5, 8]");
}

TEST_P(Errors, AttentionShapes) {
  const at::Tensor q = t({2, 3, 5, 8});
  EXPECT_EQ(error_of([&] {
              tessera::flash_attention(t({3, 5, 8}), q, q);
            }),
            "flash_attention(): expected query of shape [B, H, S_q, D], but got [3, 5, 8]");
  EXPECT_EQ(error_of([&] {
              tessera::flash_attention(q, t({2, 3, 5, 16}), q);
            }),
            "flash_attention(): expected key of shape [2, H_kv, S_k, 8] for query [2, 3, 5, 8], but got [2, "
            "3, 5, 16]");
  EXPECT_EQ(error_of([&] {
              tessera::flash_attention(q, t({1, 3, 5, 8}), q);
            }),
            "flash_attention(): expected key of shape [2, H_kv, S_k, 8] for query [2, 3, 5, 8], but got [1, "
            "3, 5, 8]");
  EXPECT_EQ(
      error_of([&] {
        tessera::flash_attention(q, q, t({2, 3, 4, 8}));
      }),
      "flash_attention(): expected value of shape [2, 3, 5, D_v] for key [2, 3, 5, 8], but got [2, 3, 4, 8]");
}

TEST_P(Errors, AttentionMask) {
  const at::Tensor q = t({2, 3, 5, 8});
  const auto call = [&](const at::Tensor& mask, bool causal = false) {
    return error_of([&] { tessera::scaled_dot_product_attention(q, q, q, mask, 0, causal); });
  };
  EXPECT_EQ(call(t({4, 5})),
            "scaled_dot_product_attention(): expected attn_mask to be broadcastable to [2, 3, 5, 5], but got "
            "[4, 5]");
  EXPECT_EQ(call(t({1, 1, 1, 5, 5})),
            "scaled_dot_product_attention(): expected attn_mask to be broadcastable to [2, 3, 5, 5], but got "
            "[1, 1, 1, 5, 5]");
  EXPECT_EQ(call(t({5, 5}, at::kInt)),
            "scaled_dot_product_attention(): expected attn_mask of dtype Bool, Float or query's Float, but "
            "got Int");
  EXPECT_EQ(call(t({5, 5}), true),
            "scaled_dot_product_attention(): expected no attn_mask with is_causal=True, but got one of shape "
            "[5, 5]");
}

TEST_P(Errors, Dropout) {
  const at::Tensor q = t({2, 3, 5, 8});
  EXPECT_EQ(error_of([&] { tessera::scaled_dot_product_attention(q, q, q, {}, 1.5); }),
            "scaled_dot_product_attention(): expected dropout_p to be in [0, 1], but got 1.5");
  EXPECT_EQ(error_of([&] { tessera::scaled_dot_product_attention(q, q, q, {}, -0.1); }),
            "scaled_dot_product_attention(): expected dropout_p to be in [0, 1], but got -0.1");
}

TEST(ErrorsOfDevices, B77_NameBoth) {
  const at::Tensor here = at::ones({2, 4}), there = at::ones({3, 4}, at::kMeta);
  EXPECT_EQ(error_of([&] { tessera::linear(here, there); }),
            "linear(): expected weight on input's device cpu, but got meta");
}

TEST(ErrorsOfDevices, B79_EveryCallLeavesTheProcessUsable) {
  const at::Tensor q = at::ones({1, 2, 3, 4});
  for (int i = 0; i < 1000; ++i) {
    EXPECT_THROW(tessera::linear(q, at::ones({3, 5})), c10::Error);
    EXPECT_THROW(tessera::softmax(q, 4), c10::Error);
    EXPECT_THROW(tessera::flash_attention(q, at::ones({1, 0, 3, 4}), q), c10::Error);
  }
  EXPECT_EQ(tessera::softmax(q, 3).sum().item<double>(), 6);
}

/// Under policy tile a case that no kernel takes is an error, never ATen.
TEST(ErrorsOfPolicy, TileNamesTheCase) {
  const testing::WithPolicy tile(Policy::tile);
  const std::string rest = ". Policy auto runs ATen here";
  const at::Tensor q = at::ones({1, 2, 3, 4}), wide = at::ones({1, 1, 2, 320});
  EXPECT_EQ(
      error_of([&] { tessera::scaled_dot_product_attention(q, q, q, {}, 0.5); }),
      "scaled_dot_product_attention(): the policy is tile, but no tile kernel supports dropout_p = 0.5" +
          rest);
  EXPECT_EQ(
      error_of([&] { tessera::flash_attention(wide, wide, wide); }),
      "flash_attention(): the policy is tile, but no tile kernel supports head dim 320, above 256" + rest);
  EXPECT_EQ(error_of([] {
              tessera::linear(at::ones({2, 4}, at::kDouble), at::ones({3, 4}, at::kDouble));
            }),
            "linear(): the policy is tile, but no tile kernel supports dtype Double" + rest);
  EXPECT_EQ(error_of([] {
              tessera::linear(at::ones({3, 2, 4}).transpose(0, 1), at::ones({3, 4}));
            }),
            "linear(): the policy is tile, but no tile kernel supports input of sizes [2, 3, 4] and strides "
            "[4, 8, 1], whose "
            "leading dims are not one dim" +
                rest);
  EXPECT_EQ(error_of([] { tessera::add(at::ones({2}, at::kInt), at::ones({2})); }),
            "add(): the policy is tile, but no tile kernel supports dtype Int" + rest);
}

}  // namespace
}  // namespace tessera
