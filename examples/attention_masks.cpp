#include "examples/attention_masks.h"

#include <ATen/ATen.h>
#include <iostream>

#include "tessera/register_operator.h"

using at::Tensor;
using namespace examples;

ProgramOf with(Line line) {
  return [line](const std::vector<DType>& dtypes) { return attention(dtypes[0], line); };
}

int failures = 0;

/// `scores` are ATen's in fp64, after the line.
void compare(const char* name, const Tensor& ours, const Tensor& scores, const Tensor& value) {
  double error = (ours - at::softmax(scores, -1).matmul(value.to(at::kDouble))).abs().max().item<double>();
  failures += error < (value.is_cuda() ? 4e-3 : 1e-5) ? 0 : 1;  // of fp16 and of fp32
  std::cout << name << " on " << value.device() << ": largest difference from ATen " << error << '\n';
}

int main() {
  const std::string tensors = "Tensor query, Tensor key, Tensor value";
  UserOperator windowed =
      register_operator("mine::windowed(" + tensors + ", int window) -> Tensor", with(sliding_window));
  UserOperator biased =
      register_operator("mine::alibi(" + tensors + ", Tensor slopes) -> Tensor", with(alibi));
  UserOperator capped =
      register_operator("mine::soft_capped(" + tensors + ", float cap) -> Tensor", with(soft_cap));

  at::TensorOptions options = at::hasCUDA() ? at::device(at::kCUDA).dtype(at::kHalf) : at::kFloat;
  Tensor query = at::randn({1, 2, 150, 40}, options), key = at::randn({1, 2, 150, 40}, options),
         value = at::randn({1, 2, 150, 40}, options),
         slopes = at::tensor({0.25, 0.0625}).to(query.device(), at::kFloat);
  Tensor scores = query.to(at::kDouble).matmul(key.to(at::kDouble).transpose(-1, -2)) / std::sqrt(40.0);
  Tensor place = at::arange(150, query.device()), distance = place.unsqueeze(1) - place;

  Tensor hidden = (distance < 0).logical_or(distance >= 20);
  compare("mine::windowed", windowed(query, key, value, 20), scores.masked_fill(hidden, -inf), value);
  compare("mine::alibi", biased(query, key, value, slopes), scores - slopes.view({2, 1, 1}) * distance.abs(),
          value);
  compare("mine::soft_capped", capped(query, key, value, 1.5), at::tanh(scores / 1.5) * 1.5, value);
  return failures == 0 ? 0 : 1;
}
