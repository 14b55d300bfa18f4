#pragma once
#include "registration/arguments/add.h"
#include "registration/arguments/attention.h"
#include "registration/arguments/linear.h"
#include "registration/arguments/softmax.h"
#include "registration/calls/call.h"

/// Checked arguments to calls, one file per operator: tensors in the order of the operator's program, outputs
/// last and without memory. Inputs may be of any device, meta included.
namespace tessera {

/// Outputs of linear: out, then preactivation where `keeps` asks for it.
Call call_of(const LinearArguments& a, bool keeps = false);
/// The call that runs forward in training.
Call training_call_of(const LinearArguments& a);
Call call_of(const SoftmaxArguments& a);
/// Outputs: output, logsumexp.
Call call_of(const AttentionArguments& a);

/// The output of add: dtype, sizes and strides as at::add gives them.
struct AddOutput {
  at::ScalarType dtype;
  at::DimVector sizes, strides;
};
AddOutput output_of(const AddArguments& a);
Call call_of(const AddArguments& a, const AddOutput& output);
inline Call call_of(const AddArguments& a) {
  return call_of(a, output_of(a));
}

}  // namespace tessera
