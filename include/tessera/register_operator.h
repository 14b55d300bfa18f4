#pragma once
#include <ATen/core/ivalue.h>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tessera/dsl.h"
#include "tile_core/target/schedule.h"

/// A tile program as an operator of torch: the interpreter runs it on the CPU, a generated kernel on the GPU.
namespace tessera {

/// The program for calls whose tensor arguments have these dtypes. Its In tensors are the schema's tensor
/// arguments and its scalars the schema's numbers, in order; its Out tensors are what the schema returns. It
/// is asked once for each list.
using ProgramOf = std::function<Program(const std::vector<DType>& dtypes)>;

struct OperatorOptions {
  Schedule schedule;  ///< how the compiler is to map the program; the default leaves all to it
};

class UserOperator;

/// Registers torch.ops.<namespace>.<name> from a schema such as "mine::scale(Tensor x, float by) -> Tensor".
/// Arguments are Tensor, float, int and bool; returns are tensors, contiguous, whose sizes are the dims that
/// the inputs bind. Tensors of one call share a device; any strides. There is a Meta kernel, so that
/// torch.compile takes the operator. Outputs that the program adds to, out(m, n) += tile, start as 0 in every
/// call, also while a graph is captured; on a GPU such an operator is not deterministic: it is ATen's error,
/// or its warning, under use_deterministic_algorithms, and in the interpreter it gives the same bits again.
/// An operator has no gradient: a backward through it is an error that names it. Throws UserError
/// (tessera/error.h) where the schema does not parse or says what is not supported, the function is empty, or
/// a field of the schedule is out of its range. A call that does not fit the program throws c10::Error
/// "mine::scale(): expected ... but got ...", and so does every other error of a call name the operator.
UserOperator register_operator(const std::string& schema, ProgramOf program,
                               const OperatorOptions& options = {});

/// A registered operator, to call from C++ through torch's dispatcher.
class UserOperator {
 public:
  class Definition;
  explicit UserOperator(std::shared_ptr<const Definition> definition) : definition_(std::move(definition)) {}

  /// The result of an operator that returns one tensor; arguments in the schema's order. A float takes any
  /// number, an int whole ones alone.
  template <typename... Arguments>
  at::Tensor operator()(const Arguments&... arguments) const {
    return call({value_of(arguments)...}).at(0);
  }
  std::vector<at::Tensor> call(std::vector<c10::IValue> arguments) const;

 private:
  template <typename T>
  static c10::IValue value_of(const T& argument) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(argument);
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return static_cast<int64_t>(argument);
    } else {
      return argument;
    }
  }

  std::shared_ptr<const Definition> definition_;
};

}  // namespace tessera
