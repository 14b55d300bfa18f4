#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "ops/operator.h"
#include "registration/arguments/operator_name.h"
#include "tile_core/base/tensor_view.h"
#include "tile_core/runtime/launch.h"

namespace tessera {

/// A call as the operator's tile program sees it. Lives on the stack; making one allocates nothing.
class Call {
 public:
  static constexpr std::size_t kMostTensors = 8, kMostScalars = 4, kMostFlags = 4, kMostDims = 10;

  struct Named {
    const char* name;  ///< a literal
    std::int64_t value;
  };

  /// `name` of torch.ops.tessera.<name>, for messages; `op` has its program.
  Call(OperatorName name, const ops::Operator& op) : name_(name), op_(&op) {}

  /// The calls below follow the order of the program's declarations.
  void tensor(const TensorView& view) { tensors_.at(tensor_count_++) = view; }
  /// Outputs follow all inputs and have no memory before `bind`.
  void output(const TensorView& view) {
    tensor(view);
    ++output_count_;
  }
  void scalar(float value) { scalars_.at(scalar_count_++) = ScalarValue::f32(value); }
  void scalar(std::int64_t value) { scalars_.at(scalar_count_++) = ScalarValue::i64(value); }
  void flag(const char* name, std::int64_t value) { flags_.at(flag_count_++) = {name, value}; }
  void dim(const char* name, std::int64_t size) { dims_.at(dim_count_++) = {name, size}; }

  std::size_t first_output() const { return tensor_count_ - output_count_; }
  /// Gives a tensor its memory.
  void bind(std::size_t tensor, void* data) { tensors_[tensor].data = data; }
  /// There is nothing to compute.
  bool outputs_are_empty() const;

  /// No tile kernel can run the call: "dtype Double". The first reason counts.
  void refuse(std::string reason) {
    if (unsupported_.empty()) unsupported_ = std::move(reason);
  }
  const std::string& unsupported() const { return unsupported_; }

  std::string_view name() const { return name_; }
  const ops::Operator& op() const { return *op_; }
  std::span<const TensorView> tensors() const { return {tensors_.data(), tensor_count_}; }
  std::span<const ScalarValue> scalars() const { return {scalars_.data(), scalar_count_}; }
  std::span<const Named> flags() const { return {flags_.data(), flag_count_}; }
  std::span<const Named> dims() const { return {dims_.data(), dim_count_}; }

  /// What kernels are specialised on, and the sizes by name.
  ops::Problem problem() const;

 private:
  OperatorName name_;
  const ops::Operator* op_;
  std::array<TensorView, kMostTensors> tensors_;
  std::array<ScalarValue, kMostScalars> scalars_;
  std::array<Named, kMostFlags> flags_;
  std::array<Named, kMostDims> dims_;
  std::size_t tensor_count_ = 0, output_count_ = 0, scalar_count_ = 0, flag_count_ = 0, dim_count_ = 0;
  std::string unsupported_;
};

/// The bytes of the widest access that is legal everywhere in the tensor, at most 16; memory that is still to
/// come is aligned.
int alignment_of(const TensorView& view);
/// `boxes`: the kernel depends on whether the copy engine can copy boxes of the tensor.
TensorFacts facts_of(const TensorView& view, bool boxes);

}  // namespace tessera
