#pragma once
#include <ATen/core/Tensor.h>
#include <functional>
#include <string>
#include <vector>

#include "perf/call_spec.h"
#include "perf/measure.h"

/// What torch itself can run in place of our operator.
namespace tessera::perf {

struct Native {
  std::string name;  ///< "cuDNN attention"
  std::function<at::Tensor()> run;
};

/// Every candidate that takes the call, the one that a user writes first. Others are tried once: `left_out`
/// gets the names and reasons of those that refuse.
std::vector<Native> natives(const CallSpec& spec, const std::vector<at::Tensor>& inputs,
                            std::vector<std::string>& left_out);

/// Times them once; without what is hopeless, which `left_out` gets.
std::vector<Native> worth_measuring(std::vector<Native> all, Timer& timer,
                                    std::vector<std::string>& left_out);

/// ATen's operator of the same name, its output.
at::Tensor run_native(const CallSpec& spec, const std::vector<at::Tensor>& inputs);

/// What ATen gives for the outputs of the operator's kernels, in their dtypes: of the operator of the same
/// name; then in training at::linear's product, and of attention the logsumexp in fp32, whose scores ATen's
/// products give and which no operator of ATen's gives for every call.
std::vector<at::Tensor> native_outputs(const CallSpec& spec, const std::vector<at::Tensor>& inputs);

}  // namespace tessera::perf
