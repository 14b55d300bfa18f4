#include <gtest/gtest.h>
#include <sstream>
#include <torch/torch.h>

#include "models/load.h"
#include "models/transformer_block.h"
#include "tile_core/base/error.h"

namespace tessera::models {
namespace {

constexpr int64_t kBatch = 3, kLength = 7, kModel = 24, kHeads = 6;

class Modules : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override { torch::manual_seed(7); }

  at::Tensor input() const { return torch::randn({kBatch, kLength, kModel}); }

  /// Row 1 ends with two keys to leave out, row 2 starts with one.
  at::Tensor padding() const {
    at::Tensor mask = torch::zeros({kBatch, kLength}, torch::kBool);
    mask[1].slice(0, kLength - 2).fill_(true);
    mask[2][0].fill_(true);
    return mask;
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, Modules, ::testing::Values(Backend::native, Backend::tessera),
                         [](const auto& info) {
                           return info.param == Backend::native ? "native" : "tessera";
                         });

void expect_close(const at::Tensor& found, const at::Tensor& expected, double tolerance = 1e-5) {
  ASSERT_EQ(found.sizes(), expected.sizes());
  EXPECT_LE((found.to(torch::kDouble) - expected.to(torch::kDouble)).abs().max().item<double>(), tolerance);
}

template <typename Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

/// Self-attention in double, written out. allowed: bool [B, 1, S, S].
at::Tensor reference_attention(const at::Tensor& input, const TensorMap& weights, int64_t kv_heads,
                               const at::Tensor& allowed) {
  auto get = [&](const char* name) { return weights.at(name).detach().to(torch::kDouble); };
  int64_t dim = kModel / kHeads, kv = kv_heads * dim;
  at::Tensor x = input.to(torch::kDouble);
  auto qkv =
      torch::linear(x, get("in_proj_weight"), get("in_proj_bias")).split_with_sizes({kModel, kv, kv}, 2);
  auto heads = [&](const at::Tensor& part, int64_t count) {
    return part.view({kBatch, kLength, count, dim}).transpose(1, 2).repeat_interleave(kHeads / count, 1);
  };
  at::Tensor scores =
      torch::matmul(heads(qkv[0], kHeads), heads(qkv[1], kv_heads).transpose(2, 3)) / std::sqrt(dim);
  at::Tensor shares = scores.masked_fill(allowed.logical_not(), -INFINITY).softmax(-1);
  at::Tensor out =
      torch::matmul(shares, heads(qkv[2], kv_heads)).transpose(1, 2).reshape({kBatch, kLength, kModel});
  return torch::linear(out, get("out_proj.weight"), get("out_proj.bias"));
}

TEST_P(Modules, LinearGeluIsLinearThenGelu) {
  for (const char* approximate : {"none", "tanh"}) {
    LinearGelu module(LinearGeluOptions(kModel, 10).approximate(approximate).backend(GetParam()));
    at::Tensor x = input();
    expect_close(module->forward(x), torch::gelu(torch::linear(x, module->weight, module->bias), approximate),
                 1e-6);
  }
  LinearGelu plain(LinearGeluOptions(kModel, 10).bias(false).backend(GetParam()));
  EXPECT_FALSE(plain->bias.defined());
  EXPECT_EQ(plain->parameters().size(), 1u);
  EXPECT_EQ(plain->forward(input()).sizes(), (std::vector<int64_t>{kBatch, kLength, 10}));
}

TEST_P(Modules, LinearGeluHasTheWeightsOfLinear) {
  torch::nn::Linear linear(kModel, 10);
  LinearGelu module(LinearGeluOptions(kModel, 10).backend(GetParam()));
  EXPECT_TRUE(load_state(*module, state(*linear)).complete());
  EXPECT_TRUE(module->weight.equal(linear->weight));
  EXPECT_TRUE(load_state(*linear, state(*module)).complete());
}

TEST_P(Modules, AttentionEqualsTorchsModuleWithItsWeights) {
  torch::nn::MultiheadAttention native(torch::nn::MultiheadAttentionOptions(kModel, kHeads));
  torch::nn::init::normal_(native->in_proj_bias);
  MultiheadAttention module(MultiheadAttentionOptions(kModel, kHeads).backend(GetParam()));
  EXPECT_TRUE(load_state(*module, state(*native)).complete());
  EXPECT_TRUE(load_state(*native, state(*module)).complete());
  at::Tensor x = input(), first = x.transpose(0, 1);
  expect_close(module->forward(x), std::get<0>(native->forward(first, first, first)).transpose(0, 1));
  expect_close(module->forward(x, padding()),
               std::get<0>(native->forward(first, first, first, padding())).transpose(0, 1));
}

TEST_P(Modules, AttentionIsCausalGroupedAndMasked) {
  at::Tensor all = torch::ones({kBatch, 1, kLength, kLength}, torch::kBool);
  for (int64_t kv_heads : {6, 2, 1}) {
    for (bool causal : {false, true}) {
      MultiheadAttention module(MultiheadAttentionOptions(kModel, kHeads)
                                    .num_kv_heads(kv_heads)
                                    .causal(causal)
                                    .backend(GetParam()));
      at::Tensor x = input(), allowed = causal ? all.tril() : all;
      expect_close(module->forward(x), reference_attention(x, state(*module), kv_heads, allowed));
      // Row 0 of the last batch sees no key under both masks: no formula, but the output projection's bias.
      at::Tensor kept = allowed.logical_and(padding().logical_not().unsqueeze(1).unsqueeze(1));
      at::Tensor found = module->forward(x, padding());
      at::Tensor expected = reference_attention(x, state(*module), kv_heads, kept);
      if (causal) expected[2][0].copy_(module->out_proj->bias.detach());
      expect_close(found, expected);
    }
  }
}

TEST_P(Modules, SeparateProjectionsAreThePartsOfThePackedOne) {
  MultiheadAttentionOptions options(kModel, kHeads);
  options.num_kv_heads(2).backend(GetParam());
  MultiheadAttention packed(options), separate(MultiheadAttentionOptions(options).packed(false));
  TensorMap tensors = state(*packed);
  auto parts = tensors.at("in_proj_weight").split_with_sizes({kModel, 8, 8});
  tensors.erase("in_proj_weight");
  tensors["q_proj_weight"] = parts[0];
  tensors["k_proj_weight"] = parts[1];
  tensors["v_proj_weight"] = parts[2];
  EXPECT_TRUE(load_state(*separate, tensors).complete());
  at::Tensor x = input();
  expect_close(separate->forward(x, padding()), packed->forward(x, padding()), 1e-6);
}

TEST_P(Modules, AttentionDropsOutOnlyInTraining) {
  MultiheadAttention module(MultiheadAttentionOptions(kModel, kHeads).dropout(0.5).backend(GetParam()));
  at::Tensor x = input();
  EXPECT_FALSE(module->forward(x).equal(module->forward(x)));
  module->eval();
  EXPECT_TRUE(module->forward(x).equal(module->forward(x)));
}

TEST_P(Modules, BlockEqualsTorchsEncoderLayerWithItsWeights) {
  torch::nn::TransformerEncoderLayer native(
      torch::nn::TransformerEncoderLayerOptions(kModel, kHeads).dim_feedforward(40).activation(torch::kGELU));
  TransformerBlock block(TransformerBlockOptions(kModel, kHeads).dim_feedforward(40).backend(GetParam()));
  EXPECT_TRUE(load_state(*block, state(*native)).complete());
  native->eval();
  at::Tensor x = input();
  expect_close(block->forward(x), native->forward(x.transpose(0, 1)).transpose(0, 1));
  expect_close(block->forward(x, padding()),
               native->forward(x.transpose(0, 1), {}, padding()).transpose(0, 1));

  std::stringstream archive;  // torch's own archives fit too, both ways
  torch::save(block, archive);
  torch::nn::init::zeros_(native->linear1->weight);
  torch::load(native, archive);
  expect_close(block->forward(x), native->forward(x.transpose(0, 1)).transpose(0, 1));
  std::stringstream back;
  torch::save(native, back);
  torch::nn::init::zeros_(block->linear1->weight);
  torch::load(block, back);
  expect_close(block->forward(x), native->forward(x.transpose(0, 1)).transpose(0, 1));
}

TEST_P(Modules, PreNormBlockNormalizesBeforeEachPart) {
  TransformerBlock block(TransformerBlockOptions(kModel, kHeads)
                             .num_kv_heads(3)
                             .dim_feedforward(40)
                             .norm_first(true)
                             .causal(true)
                             .approximate("tanh")
                             .backend(GetParam()));
  at::Tensor x = input();
  at::Tensor allowed = torch::ones({kBatch, 1, kLength, kLength}, torch::kBool).tril();
  at::Tensor sum = x + reference_attention(block->norm1->forward(x), state(*block->self_attn), 3, allowed);
  at::Tensor hidden = block->norm2->forward(sum.to(torch::kFloat));
  hidden = torch::gelu(torch::linear(hidden, block->linear1->weight, block->linear1->bias), "tanh");
  expect_close(block->forward(x), sum + block->linear2->forward(hidden));
}

TEST_P(Modules, GradientsReachEveryParameterAndAgree) {
  TransformerBlockOptions options(kModel, kHeads);
  options.num_kv_heads(2).dim_feedforward(40).causal(true);
  TransformerBlock native(options.backend(Backend::native)), block(options.backend(GetParam()));
  load_state(*block, state(*native));
  at::Tensor x = input(), weight = torch::randn_like(x);
  (native->forward(x) * weight).sum().backward();
  (block->forward(x) * weight).sum().backward();
  TensorMap expected = state(*native);
  for (const auto& [name, parameter] : state(*block)) {
    ASSERT_TRUE(parameter.grad().defined()) << name;
    expect_close(parameter.grad(), expected.at(name).grad(), 1e-4);
  }
}

TEST_P(Modules, ACloneHasItsOwnWeights) {
  TransformerBlock block(TransformerBlockOptions(kModel, kHeads).backend(GetParam()));
  auto copy = std::dynamic_pointer_cast<TransformerBlockImpl>(block->clone());
  at::Tensor x = input(), before = block->forward(x);
  torch::nn::init::zeros_(block->linear1->weight);
  EXPECT_TRUE(copy->forward(x).equal(before));
}

TEST(ModuleErrors, NameWhatWasExpected) {
  EXPECT_EQ(error_of([] { LinearGelu(LinearGeluOptions(2, 2).approximate("erf")); }),
            "LinearGelu: expected approximate 'none' or 'tanh' but got 'erf'");
  EXPECT_EQ(error_of([] { MultiheadAttention(10, 3); }),
            "MultiheadAttention: expected embed_dim divisible by num_heads but got 10 and 3");
  EXPECT_EQ(error_of([] { MultiheadAttention(MultiheadAttentionOptions(12, 6).num_kv_heads(4)); }),
            "MultiheadAttention: expected num_heads divisible by num_kv_heads but got 6 and 4");
  MultiheadAttention module(12, 6);
  EXPECT_EQ(error_of([&] {
              module->forward(torch::zeros({2, 12}));
            }),
            "MultiheadAttention: expected input of shape [B, S, 12] but got [2, 12]");
  EXPECT_EQ(error_of([&] {
              module->forward(torch::zeros({2, 3, 12}), torch::zeros({2, 3}));
            }),
            "MultiheadAttention: expected padding of dtype Bool and shape [2, 3] but got Float [2, 3]");
  EXPECT_EQ(error_of([&] {
              module->forward(torch::zeros({2, 3, 12}), torch::zeros({3, 2}, torch::kBool));
            }),
            "MultiheadAttention: expected padding of dtype Bool and shape [2, 3] but got Bool [3, 2]");
}

}  // namespace
}  // namespace tessera::models
