#include "registration/calls/calls.h"

#include "registration/calls/views.h"
#include "registration/dispatch/call_key.h"
#include "registration/dispatch/decisions.h"
#include "registration/dispatch/shaped_call.h"
#include "tests/registration/support.h"

// at::Tensor to what a tile program sees.
namespace tessera {
namespace {

using at::Tensor;

TensorView view(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, DType dtype = f32) {
  TensorView v{.dtype = dtype, .rank = static_cast<int>(sizes.size())};
  std::ranges::copy(sizes, v.sizes.begin());
  std::ranges::copy(strides, v.strides.begin());
  return v;
}

/// "[2, 3] (3, 1)"
std::string text(const TensorView& v) {
  const auto rank = static_cast<std::size_t>(v.rank);
  std::ostringstream out;
  out << at::IntArrayRef(v.sizes.data(), rank) << " by " << at::IntArrayRef(v.strides.data(), rank);
  return out.str();
}

std::string coalesced(std::vector<TensorView> views) {
  coalesce(views);
  std::string all;
  for (const TensorView& v : views) all += (all.empty() ? "" : "; ") + text(v);
  return all;
}

TEST(Views, CoalesceMergesWhatAllViewsAllow) {
  EXPECT_EQ(coalesced({view({2, 3, 4}, {12, 4, 1})}), "[24] by [1]");
  EXPECT_EQ(coalesced({view({2, 3, 4}, {12, 4, 1}), view({2, 3, 4}, {4, 0, 1})}),
            "[2, 3, 4] by [12, 4, 1]; [2, 3, 4] by [4, 0, 1]");
  EXPECT_EQ(coalesced({view({2, 3, 4}, {12, 4, 1}), view({2, 3, 4}, {0, 0, 1})}),
            "[6, 4] by [4, 1]; [6, 4] by [0, 1]");
  EXPECT_EQ(coalesced({view({2, 1, 4}, {4, 99, 1})}), "[8] by [1]");
  EXPECT_EQ(coalesced({view({2, 3, 4}, {24, 8, 1})}), "[6, 4] by [8, 1]");
  EXPECT_EQ(coalesced({view({1, 1}, {5, 7})}), "[1] by [0]");
  EXPECT_EQ(coalesced({view({}, {})}), "[1] by [0]");
}

TEST(Views, CollapseNeedsOneStride) {
  const auto of = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides) {
    const auto all = collapse(sizes, strides, 0, sizes.size());
    return all ? std::to_string(all->size) + " by " + std::to_string(all->stride) : "none";
  };
  EXPECT_EQ(of({2, 3}, {30, 10}), "6 by 10");
  EXPECT_EQ(of({2, 1, 3}, {30, 77, 10}), "6 by 10");
  EXPECT_EQ(of({2, 3}, {10, 20}), "none");
  EXPECT_EQ(of({2, 0, 3}, {10, 20, 5}), "0 by 0");
  EXPECT_EQ(of({}, {}), "1 by 0");
}

TEST(Views, AlignmentIsOfAddressStridesAndRows) {
  alignas(16) std::array<char, 64> memory{};
  TensorView v = view({4, 8}, {8, 1}, bf16);
  EXPECT_EQ(alignment_of(v), 16);  // memory to come
  v.data = memory.data();
  EXPECT_EQ(alignment_of(v), 16);
  v.data = memory.data() + 2;
  EXPECT_EQ(alignment_of(v), 2);
  EXPECT_EQ(alignment_of(view({4, 8}, {9, 1}, bf16)), 2);  // rows
  EXPECT_EQ(alignment_of(view({4, 7}, {8, 1}, bf16)), 2);  // the last access of a row
  EXPECT_EQ(alignment_of(view({4, 6}, {6, 1}, bf16)), 4);
  EXPECT_EQ(alignment_of(view({4, 12}, {12, 1}, bf16)), 4);  // three classes: 16, 4, an element
  EXPECT_EQ(alignment_of(view({4, 3}, {3, 1}, f32)), 4);
  EXPECT_EQ(alignment_of(view({1, 8}, {9, 1}, bf16)), 16);  // a stride that nothing is multiplied with
  EXPECT_EQ(alignment_of(view({4, 8}, {0, 1}, bf16)), 16);  // broadcast
  EXPECT_EQ(facts_of(view({4, 8}, {1, 4}, f32), false).contiguous_dim, 0);
  EXPECT_EQ(facts_of(view({4, 8}, {16, 2}, f32), false).contiguous_dim, -1);
  EXPECT_EQ(facts_of(view({4, 1}, {1, 1}, f32), false).contiguous_dim, 0);
  EXPECT_TRUE(facts_of(view({4, 8}, {8, 1}, f32), true).bulk);
  EXPECT_FALSE(facts_of(view({4, 8}, {0, 1}, f32), true).bulk);
  EXPECT_TRUE(facts_of(view({4, 8}, {0, 1}, f32), false).bulk);
}

std::vector<std::string> tensors(const Call& call) {
  std::vector<std::string> all;
  for (const TensorView& v : call.tensors()) all.push_back(text(v));
  return all;
}

using Lines = std::vector<std::string>;

TEST(Calls, LinearHasOneDimOfRows) {
  const std::optional<Tensor> bias = at::empty({5});
  const Tensor x = at::empty({2, 3, 8}).slice(2, 0, 7), w = at::empty({5, 7});
  const Call call =
      call_of(LinearArguments{"linear_gelu", x, w, bias, Activation::gelu_tanh}, /*keeps=*/true);
  EXPECT_EQ(tensors(call), (Lines{"[6, 7] by [8, 1]", "[5, 7] by [7, 1]", "[5] by [1]", "[6, 5] by [5, 1]",
                                  "[6, 5] by [5, 1]"}));
  EXPECT_EQ(call.first_output(), 3U);
  const ops::Problem problem = call.problem();
  EXPECT_EQ(problem.facts.flags, (Flags{{"bias", 1}, {"gelu", 2}, {"preactivation", 1}}));
  EXPECT_EQ(problem.dims, (decltype(problem.dims){{"K", 7}, {"M", 6}, {"N", 5}}));
}

TEST(Calls, OfTrainingKeepThePreactivation) {
  const Tensor input = at::ones({2, 4}), weight = at::ones({3, 4});
  const auto keeps = [&](Activation activation) {
    const Call call = training_call_of(LinearArguments{"linear", input, weight, kNoTensor, activation});
    return call.problem().facts.flags.at("preactivation") != 0;
  };
  EXPECT_FALSE(keeps(Activation::none));
  EXPECT_TRUE(keeps(Activation::gelu_erf));
  EXPECT_TRUE(keeps(Activation::gelu_tanh));
}

TEST(Calls, SoftmaxPutsTheReducedDimWhereItLies) {
  const auto of = [](const Tensor& x, int64_t dim) { return tensors(call_of(SoftmaxArguments{x, dim, {}})); };
  const Tensor x = at::empty({2, 3, 4});
  EXPECT_EQ(of(x, 2), (Lines{"[6, 4] by [4, 1]", "[6, 4] by [4, 1]"}));
  EXPECT_EQ(of(x, 1), (Lines{"[2, 3, 4] by [12, 4, 1]", "[2, 3, 4] by [12, 4, 1]"}));
  EXPECT_EQ(of(x, 0), (Lines{"[1, 2, 12] by [0, 12, 1]", "[1, 2, 12] by [0, 12, 1]"}));
  EXPECT_EQ(of(x.transpose(0, 2), 0), (Lines{"[3, 2, 4] by [4, 12, 1]", "[3, 2, 4] by [2, 1, 6]"}));
  EXPECT_EQ(of(at::empty({5}), 0), (Lines{"[1, 5] by [0, 1]", "[1, 5] by [0, 1]"}));
  EXPECT_EQ(of(at::empty({}), 0), (Lines{"[1, 1] by [0, 1]", "[1, 1] by [0, 1]"}));
}

TEST(Calls, AttentionBroadcastsItsMask) {
  const Tensor q = at::empty({2, 4, 5, 8}), k = at::empty({2, 2, 6, 8});
  const std::optional<Tensor> mask = at::empty({2, 1, 1, 6}, at::kBool);
  const Call call = call_of(AttentionArguments{"sdpa", q, k, k, mask, 0, false, 0, {}, true});
  EXPECT_EQ(text(call.tensors()[3]), "[2, 4, 5, 6] by [6, 0, 0, 1]");
  EXPECT_EQ(call.problem().facts.flags, (Flags{{"causal", 0}, {"mask", 1}}));
  EXPECT_EQ(call.problem().dims.at("G"), 2);
}

TEST(Calls, AddIsOneDimWhereItCanBe) {
  const Tensor x = at::empty({2, 3, 4});
  EXPECT_EQ(tensors(call_of(AddArguments{x, x})), (Lines(3, "[24] by [1]")));
  EXPECT_EQ(tensors(call_of(AddArguments{x.transpose(0, 2), x.transpose(0, 2)})), (Lines(3, "[24] by [1]")));
  EXPECT_EQ(tensors(call_of(AddArguments{x, at::empty({4})})),
            (Lines{"[6, 4] by [4, 1]", "[6, 4] by [0, 1]", "[6, 4] by [4, 1]"}));
}

TEST(CallKey, SeesWhateverAKernelDependsOn) {
  const Tensor x = at::empty({4, 8}), w = at::empty({8, 8}), other = at::empty({8, 4});
  const auto words = [&](const Tensor& input, Activation activation = Activation::none,
                         Policy policy = Policy::automatic, int device = 0) {
    const dispatch::CallKey key(call_of(LinearArguments{"linear", input, w, kNoTensor, activation}), policy,
                                device);
    return std::vector<std::int64_t>(key.words().begin(), key.words().end());
  };
  const auto plain = words(x);
  EXPECT_EQ(words(at::empty({4, 8})), plain);
  EXPECT_NE(words(at::empty({5, 8})), plain);
  EXPECT_NE(words(other.t()), plain);
  EXPECT_NE(words(at::empty({33}).slice(0, 1).view({4, 8})), plain);  // another alignment
  EXPECT_NE(words(x, Activation::gelu_erf), plain);
  EXPECT_NE(words(x, Activation::none, Policy::tile), plain);
  EXPECT_NE(words(x, Activation::none, Policy::automatic, 1), plain);
}

TEST(Decisions, AreBounded) {
  dispatch::Decisions decisions;
  const Tensor w = at::empty({8, 8}, at::kMeta);
  const auto key = [&](int64_t rows) {
    const Tensor x = at::empty({rows, 8}, at::kMeta);
    return dispatch::CallKey(call_of(LinearArguments{"linear", x, w, kNoTensor}), Policy::automatic, 0);
  };
  for (int64_t rows = 1; rows < 10000; ++rows) decisions.insert(key(rows), {}, decisions.epoch());
  EXPECT_TRUE(decisions.find(key(9999)).has_value());
  EXPECT_FALSE(decisions.find(key(1)).has_value());
  decisions.clear();
  EXPECT_FALSE(decisions.find(key(9999)).has_value());
}

TEST(Decisions, AreNotMadeByWhatWasForgottenMeanwhile) {
  dispatch::Decisions decisions;
  const Tensor x = at::empty({8, 8}, at::kMeta);
  const dispatch::CallKey key(call_of(SoftmaxArguments{x, 0}), Policy::automatic, 0);
  const std::uint64_t before = decisions.epoch();
  decisions.clear();
  decisions.insert(key, {}, before);
  EXPECT_FALSE(decisions.find(key).has_value());
  decisions.insert(key, {}, decisions.epoch());
  EXPECT_TRUE(decisions.find(key).has_value());
}

// A call outlives the words that it was asked for with.
static_assert(!std::is_constructible_v<OperatorName, std::string>);
static_assert(!std::is_constructible_v<OperatorName, std::string_view>);

TEST(Calls, KeepTheirName) {
  const std::vector<std::vector<int64_t>> shapes(3, {1, 2, 16, 8});
  const Call call = dispatch::call_of({std::string("scaled_dot_product_") + "attention", shapes});
  const std::string later(64, 'x');  // where the words lay
  EXPECT_EQ(call.name(), "scaled_dot_product_attention");
}

}  // namespace
}  // namespace tessera
