#include <ATen/core/DimVector.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/real.h>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <vector>

#include "registration/gradients/gradients.h"
#include "tessera/ops.h"

// Nodes as ATen's own are made: what torch::autograd::Function does more in every call shows beside operators
// that are as short as these.
namespace tessera::gradients {
namespace {

using at::Tensor;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

/// A node whose backward gives gradients to these.
template <typename Backward, typename... Tensors>
std::shared_ptr<Backward> node_after(const Tensors&... inputs) {
  std::shared_ptr<Backward> node(new Backward, torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(inputs...));
  return node;
}

template <typename F>
Tensor without_graph(F f) {
  const at::AutoDispatchBelowADInplaceOrView below;
  return f();
}

struct AddBackward : Node {
  struct Operand {
    at::SymDimVector sizes;
    at::ScalarType dtype;

    explicit Operand(const Tensor& t) : sizes(t.sym_sizes()), dtype(t.scalar_type()) {}
    Tensor gradient(const Tensor& grad) const {
      const Tensor real = grad.is_complex() && !c10::isComplexType(dtype) ? at::real(grad) : grad;
      return real.sum_to_size_symint(sizes).to(dtype);
    }
  };
  std::vector<Operand> operands;

  std::string name() const override { return "tessera::AddBackward"; }

  variable_list apply(variable_list&& grads) override {
    variable_list gradients(operands.size());
    if (!grads[0].defined()) return gradients;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (should_compute_output(i)) gradients[i] = operands[i].gradient(grads[0]);
    }
    return gradients;
  }
};

struct SoftmaxBackward : Node {
  int64_t dim = 0;
  at::ScalarType dtype = at::kFloat;  ///< of the input
  SavedVariable output;

  std::string name() const override { return "tessera::SoftmaxBackward"; }

  void release_variables() override {
    const std::lock_guard lock(mutex_);
    output.reset_data();
  }

  variable_list apply(variable_list&& grads) override {
    const std::lock_guard lock(mutex_);
    const Tensor result = output.unpack(shared_from_this());
    if (!grads[0].defined()) return variable_list(1);
    return {at::_softmax_backward_data(grads[0], result, dim, result.scalar_type()).to(dtype)};
  }
};

}  // namespace

Tensor add(const AddArguments& a) {
  const auto node = node_after<AddBackward>(a.self, a.other);
  node->operands = {AddBackward::Operand(a.self), AddBackward::Operand(a.other)};
  Tensor output = without_graph([&] { return tessera::add(a.self, a.other); });
  torch::autograd::set_history(output, node);
  return output;
}

Tensor softmax(const SoftmaxArguments& a) {
  const auto node = node_after<SoftmaxBackward>(a.self);
  node->dim = a.dim;
  node->dtype = a.self.scalar_type();
  Tensor output = without_graph([&] { return tessera::softmax(a.self, a.dim, a.dtype); });
  torch::autograd::set_history(output, node);
  node->output = SavedVariable(output, /*is_output=*/true);
  return output;
}

}  // namespace tessera::gradients
