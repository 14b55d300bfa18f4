#include "registration/native/alignment.h"

#include <ATen/core/DimVector.h>
#include <ATen/ops/zeros.h>
#include <cstdint>
#include <memory>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

#include "registration/gradients/derivatives.h"
#include "registration/native/native.h"

namespace tessera::native {
namespace {

/// Made by hand: Tensor::register_hook allocates several times more, in every call.
class AlignGradient : public torch::autograd::FunctionPreHook {
 public:
  explicit AlignGradient(const at::Tensor& output)
      : index_(output.output_nr()),
        options_(output.options()),
        sizes_(output.sym_sizes()),
        dense_(output.is_non_overlapping_and_dense()),
        strides_(output.sym_strides()) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& grads) override {
    torch::autograd::variable_list result = grads;
    result.at(index_) = of(result.at(index_));
    return result;
  }

  void compiled_args(torch::dynamo::autograd::CompiledNodeArgs& args) const override {
    args.add_cpp_single_tensor_pre_hook(
        [copy = *this](const at::TensorBase& grad) { return copy.of(at::Tensor(grad)); }, index_);
  }

 private:
  at::Tensor of(const at::Tensor& grad) const {
    if (!grad.defined()) return at::zeros_symint(sizes_, options_);
    return aligned(dense_ ? restride(grad, strides_) : grad);
  }

  std::size_t index_;
  at::TensorOptions options_;
  at::SymDimVector sizes_;
  bool dense_;
  at::SymDimVector strides_;
};

constexpr int64_t kBytes = 16;

bool is_aligned_step(const at::Tensor& t, int64_t dim) {
  return t.stride(dim) * static_cast<int64_t>(t.element_size()) % kBytes == 0;
}

/// ATen asks for the stride of a dim of size 1, too.
at::Tensor with_aligned_steps(const at::Tensor& t) {
  at::DimVector strides(t.strides());
  for (int64_t dim = 0; dim + 1 < t.dim(); ++dim) {
    if (!is_aligned_step(t, dim)) strides[dim] = kBytes;
  }
  return t.as_strided(t.sizes(), strides);
}

}  // namespace

at::Tensor aligned(const at::Tensor& t) {
  if (!t.is_cuda() || !t.has_storage() || is_traced(t)) return t;
  bool steps = true, steps_to_rows = true;  // along every dim; along those that have a second row
  for (int64_t dim = 0; dim + 1 < t.dim(); ++dim) {
    const bool step = is_aligned_step(t, dim);
    steps = steps && step;
    steps_to_rows = steps_to_rows && (step || t.size(dim) == 1);
  }
  const bool rows = (t.size(-1) <= 1 || t.stride(-1) == 1) &&
                    reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) % kBytes == 0;
  if (rows && steps) return t;
  // as_strided's backward takes the elements of an expanded tensor for one, and shares their gradients out.
  const bool differentiated = transforms() || (grad_mode() && t.requires_grad());
  return rows && steps_to_rows && !differentiated ? with_aligned_steps(t)
                                                  : t.clone(at::MemoryFormat::Contiguous);
}

at::Tensor with_aligned_gradient(at::Tensor output) {
  if (!output.is_cuda() || !output.requires_grad() || is_traced(output) || transforms()) return output;
  output.grad_fn()->add_tensor_pre_hook(std::make_unique<AlignGradient>(output));
  return output;
}

}  // namespace tessera::native
