#include "registration/dispatch/memo.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "registration/dispatch/call_key.h"

namespace tessera::dispatch {
namespace {

using MaybeTensor = std::optional<at::Tensor>;

void expect_apart(const std::vector<ArgumentsKey>& keys) {
  const WordsEqual equal;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(equal(keys[i].words(), keys[j].words())) << i << ", " << j;
  }
}

template <typename Arguments>
void expect_same(const Arguments& a, const Arguments& b) {
  EXPECT_TRUE(WordsEqual{}(ArgumentsKey(a).words(), ArgumentsKey(b).words()));
}

at::Tensor tensor(at::IntArrayRef sizes, at::ScalarType dtype = at::kHalf) {
  return at::zeros(sizes, dtype);
}

TEST(ArgumentsKey, OfEqualTensorsIsEqual) {
  const at::Tensor x = tensor({4, 8}), y = tensor({4, 8});
  expect_same(AddArguments{x, x}, AddArguments{y, y});
  const MaybeTensor none, undefined = at::Tensor();
  expect_same(LinearArguments{"linear", x, x, none}, LinearArguments{"linear", y, y, undefined});
  expect_same(SoftmaxArguments{x, -1}, SoftmaxArguments{y, -1});
}

TEST(ArgumentsKey, HoldsWhatIsKnownOfATensor) {
  const at::Tensor x = tensor({4, 8}), wide = tensor({5, 8}), storage = tensor({64});
  const at::Tensor others[] = {
      x,
      tensor({4, 8}, at::kBFloat16),
      tensor({8, 4}),
      tensor({8, 4}).t(),
      tensor({32}),
      tensor({4, 8, 1}),
      tensor({4, 16}).slice(1, 0, 8),
      storage.slice(0, 1, 33).view({4, 8}),  // 2 bytes further
      tensor({4, 8}).to(at::kMeta),
      tensor({4, 8}, at::kComplexHalf),
      tensor({4, 8}, at::kComplexHalf).conj(),
  };
  std::vector<ArgumentsKey> keys;
  for (const at::Tensor& t : others) keys.emplace_back(SoftmaxArguments{t, 0});
  expect_apart(keys);
}

TEST(ArgumentsKey, HoldsEveryArgument) {
  const at::Tensor x = tensor({2, 2, 4, 8}), w = tensor({8, 8}), mask = tensor({4, 4}),
                   number = at::scalar_tensor(2, at::kDouble);
  const at::Tensor wrapped = number.clone();
  wrapped.unsafeGetTensorImpl()->set_wrapped_number(true);
  const MaybeTensor none, some = mask, bias = tensor({8});
  expect_apart({
      ArgumentsKey(AddArguments{x, w}),
      ArgumentsKey(AddArguments{w, x}),
      ArgumentsKey(AddArguments{x, number}),
      ArgumentsKey(AddArguments{x, wrapped}),
      ArgumentsKey(LinearArguments{"linear", x, w, none}),
      ArgumentsKey(LinearArguments{"linear", x, w, bias}),
      ArgumentsKey(LinearArguments{"linear_gelu", x, w, bias, Activation::gelu_erf}),
      ArgumentsKey(LinearArguments{"linear_gelu", x, w, bias, Activation::gelu_erf}, /*keeps=*/true),
      ArgumentsKey(LinearArguments{"linear_gelu", x, w, bias, Activation::gelu_tanh}),
      ArgumentsKey(SoftmaxArguments{x, 0}),
      ArgumentsKey(SoftmaxArguments{x, -4}),
      ArgumentsKey(SoftmaxArguments{x, 0, at::kHalf}),
      ArgumentsKey(SoftmaxArguments{x, 0, at::kByte}),
      ArgumentsKey(SoftmaxArguments{x, 0, at::kFloat}),
      ArgumentsKey(AttentionArguments{"flash_attention", x, x, x, none}),
      ArgumentsKey(AttentionArguments{"flash_attention", x, x, x, some}),
      ArgumentsKey(AttentionArguments{"flash_attention", x, x, x, none, 0.5}),
      ArgumentsKey(AttentionArguments{"flash_attention", x, x, x, none, 0, true}),
      ArgumentsKey(AttentionArguments{"flash_attention", x, x, x, none, 0, true, 1}),
      ArgumentsKey(AttentionArguments{"flash_attention", x, x, x, none, 0, false, 0, 0.0}),
      ArgumentsKey(AttentionArguments{"flash_attention", x, x, x, none, 0, false, 0, -2.0}),
      ArgumentsKey(AttentionArguments{"flash_attention", x, x, x, none, 0, false, 0, {}, true}),
  });
}

TEST(ArgumentsKey, OfWhatIsNoStridedTensorIsNone) {
  const at::Tensor x = tensor({4, 8}), undefined;
  for (const at::Tensor& other : {undefined, x.to_sparse(), at::_nested_tensor_from_tensor_list({x, x})}) {
    EXPECT_TRUE(ArgumentsKey(AddArguments{x, other}).words().empty());
    EXPECT_TRUE(ArgumentsKey(AddArguments{other, x}).words().empty());
  }
}

TEST(ArgumentsKey, OfMoreDimsThanAKernelHasIsNone) {
  const at::Tensor most = tensor({1, 1, 1, 1, 1, 1, 1, 1}), more = tensor({1, 1, 1, 1, 1, 1, 1, 1, 1});
  const MaybeTensor mask = most;
  EXPECT_FALSE(ArgumentsKey(AttentionArguments{"flash_attention", most, most, most, mask}).words().empty());
  EXPECT_TRUE(ArgumentsKey(AddArguments{most, more}).words().empty());
  EXPECT_TRUE(ArgumentsKey(AddArguments{more, most}).words().empty());
}

/// A tensor with these keys and no memory.
at::Tensor with_keys(c10::DispatchKeySet keys) {
  return at::detail::make_tensor<c10::TensorImpl>(keys, caffe2::TypeMeta::Make<float>(),
                                                  at::Device(at::kCUDA, 0));
}

TEST(IsNextAtGpu, OnlyWhereNothingElseIsToSeeTheCall) {
  using c10::DispatchKey;
  const c10::DispatchKeySet gpu(DispatchKey::CUDA);
  const at::Tensor plain = with_keys(gpu);
  const MaybeTensor none, some = plain;
  EXPECT_TRUE(is_next_at_gpu(plain));
  EXPECT_TRUE(is_next_at_gpu(plain, none, some));
  EXPECT_FALSE(is_next_at_gpu(plain, tensor({1})));
  EXPECT_FALSE(is_next_at_gpu(plain, tensor({1}).to(at::kMeta)));
  for (const DispatchKey key : {DispatchKey::Conjugate, DispatchKey::Functionalize})
    EXPECT_FALSE(is_next_at_gpu(plain, with_keys(gpu.add(key)))) << c10::toString(key);
  const at::Tensor of_python = with_keys(gpu);
  of_python.unsafeGetTensorImpl()->set_python_dispatch(true);
  EXPECT_FALSE(is_next_at_gpu(plain, of_python));
  for (const DispatchKey key : {DispatchKey::Python, DispatchKey::FuncTorchDynamicLayerFrontMode}) {
    const c10::impl::IncludeDispatchKeyGuard mode(key);
    EXPECT_FALSE(is_next_at_gpu(plain)) << c10::toString(key);
  }
  EXPECT_TRUE(is_next_at_gpu(plain));
}

}  // namespace
}  // namespace tessera::dispatch
