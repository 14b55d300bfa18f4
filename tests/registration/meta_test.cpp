#include "registration/private_ops.h"
#include "tessera/ops.h"
#include "tests/registration/support.h"

namespace tessera {
namespace {

using at::Tensor;

void expect_same(const Tensor& meta, const Tensor& real) {
  EXPECT_EQ(meta.sizes(), real.sizes());
  EXPECT_EQ(meta.strides(), real.strides()) << real.sizes();
  EXPECT_EQ(meta.scalar_type(), real.scalar_type());
  EXPECT_TRUE(meta.is_meta());
}

/// On the meta device with the very strides.
Tensor to_meta(const Tensor& t) {
  return at::empty_strided(t.sizes(), t.strides(), t.options().device(at::kMeta));
}

class Meta : public testing::EitherPolicy {};
INSTANTIATE_TEST_SUITE_P(, Meta, testing::kPolicies, testing::name_of_policy);

TEST_P(Meta, B130_AttentionStrides) {
  const std::vector<Tensor> queries = {at::randn({2, 3, 5, 8}),
                                       at::randn({2, 5, 3, 8}).transpose(1, 2),
                                       at::randn({3, 2, 5, 8}).transpose(0, 1),
                                       at::randn({2, 3, 8, 5}).transpose(2, 3),
                                       at::randn({5, 3, 2, 8}).permute({2, 1, 0, 3}),
                                       at::randn({2, 5, 3, 3, 8}).unbind(2)[1].transpose(1, 2),
                                       at::randn({1, 3, 5, 8}).expand({2, 3, 5, 8}),
                                       at::randn({2, 3, 1, 8}).expand({2, 3, 5, 8}),
                                       at::randn({2, 3, 5, 8}).slice(0, 0, 1),
                                       at::randn({2, 5, 3, 8}).transpose(1, 2).slice(2, 0, 1),
                                       at::randn({1, 3, 5, 8}).as_strided({1, 3, 5, 8}, {1, 40, 8, 1}),
                                       at::randn({2, 3, 5, 8}).slice(2, 0, 0),
                                       at::randn({2, 3, 5, 1})};
  for (const Tensor& q : queries) {
    const Tensor k = at::randn({q.size(0), q.size(1), 4, q.size(3)}),
                 v = at::randn({q.size(0), q.size(1), 4, 6});
    const Tensor mq = to_meta(q), mk = to_meta(k), mv = to_meta(v);
    expect_same(tessera::scaled_dot_product_attention(mq, mk, mv),
                tessera::scaled_dot_product_attention(q, k, v));
    const auto [output, logsumexp] = tessera::flash_attention(q, k, v, true, 1);
    const auto [meta_output, meta_logsumexp] = tessera::flash_attention(mq, mk, mv, true, 1);
    expect_same(meta_output, output);
    expect_same(meta_logsumexp, logsumexp);
  }
}

// Dims of size 1 have strides, too, which `contiguous` leaves as they are.
TEST_P(Meta, B130_FlashAttentionStrides) {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{4, 1, 4, 8},
                                                                             {4, 4, 1, 8},
                                                                             {1, 4, 8, 8},
                                                                             {1, 1, 8, 8},
                                                                             {4, 1, 1, 8},
                                                                             {1, 1, 1, 1},
                                                                             {2, 3, 5, 8}}) {
    for (const bool heads_last : {false, true}) {
      for (const bool causal : {false, true}) {
        const Tensor dense = at::randn(sizes);
        const Tensor x = heads_last ? dense.transpose(1, 2).contiguous().transpose(1, 2) : dense;
        const Tensor meta = to_meta(x);
        const auto [output, logsumexp] = tessera::flash_attention(x, x, x, causal);
        const auto [meta_output, meta_logsumexp] = tessera::flash_attention(meta, meta, meta, causal);
        expect_same(meta_output, output);
        expect_same(meta_logsumexp, logsumexp);
        const auto [query, key, value] =
            tessera::flash_attention_backward(output, x, x, x, output, logsumexp, causal, 0, {});
        const auto [meta_query, meta_key, meta_value] = tessera::flash_attention_backward(
            meta_output, meta, meta, meta, meta_output, meta_logsumexp, causal, 0, {});
        expect_same(meta_query, query);
        expect_same(meta_key, key);
        expect_same(meta_value, value);
      }
    }
  }
}

TEST_P(Meta, B130_OtherOperators) {
  const Tensor x = at::randn({3, 4, 8}), w = at::randn({5, 8});
  for (const Tensor& view :
       {x, x.transpose(0, 1).contiguous().transpose(0, 1), x.slice(1, 0, 1), x.slice(0, 0, 0)}) {
    const Tensor meta = to_meta(view);
    if (view.is_contiguous()) {
      expect_same(tessera::linear(meta, to_meta(w)), tessera::linear(view, w));
      expect_same(tessera::linear_gelu(meta, to_meta(w)), tessera::linear_gelu(view, w));
    }
    for (int64_t dim = 0; dim < 3; ++dim)
      expect_same(tessera::softmax(meta, dim), tessera::softmax(view, dim));
    expect_same(tessera::softmax(meta, 0, at::kHalf), tessera::softmax(view, 0, at::kHalf));
    const Tensor row = at::randn({8});
    expect_same(tessera::add(meta, to_meta(row)), tessera::add(view, row));
  }
}

TEST(MetaOfLargeBatches, B130_Batch65536) {
  const Tensor q = at::zeros({65536, 1, 2, 4});
  expect_same(tessera::scaled_dot_product_attention(to_meta(q), to_meta(q), to_meta(q)),
              tessera::scaled_dot_product_attention(q, q, q));
}

}  // namespace
}  // namespace tessera
