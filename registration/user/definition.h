#pragma once
#include <ATen/core/function_schema.h>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <span>

#include "registration/dispatch/call_key.h"
#include "tessera/register_operator.h"
#include "tile_core/runtime/kernel_store.h"
#include "tile_core/runtime/launch.h"
#include "tile_core/target/target.h"

namespace tessera {

/// What is known of one user's operator. Lives for ever: torch keeps its kernels.
class UserOperator::Definition {
 public:
  /// Throws UserError where the schema does not parse or has what programs do not, the
  /// program is empty, or the schedule breaks a rule that no program mends.
  Definition(const std::string& schema, ProgramOf program, const OperatorOptions& options);

  const c10::FunctionSchema& schema() const { return schema_; }
  const std::string& name() const { return name_; }  ///< "mine::scale"

  /// The program for these dtypes; throws UserError where it does not fit the schema.
  const Program& program(const std::vector<DType>& dtypes) const;

  /// The kernel for tensors of this kind; throws UserError where the program does not fit the target.
  Kernel& kernel(const Program& program, std::span<const TensorView> tensors, int device) const;

 private:
  /// Whatever the user's function throws becomes a UserError that names the operator.
  Program make(const std::vector<DType>& dtypes) const;
  void check_fits(const Program& program) const;

  c10::FunctionSchema schema_;
  std::string name_;
  ProgramOf make_;
  Schedule schedule_;
  mutable std::shared_mutex mutex_;
  mutable std::map<std::vector<DType>, Program> programs_;
  mutable dispatch::CallMap<Kernel*> kernels_;
};

}  // namespace tessera
