#pragma once
#include <memory>
#include <torch/library.h>

#include "registration/user/definition.h"

namespace tessera {

/// The boxed kernels of one user's operator. Both check a call against the program.
torch::CppFunction value_kernel(
    std::shared_ptr<const UserOperator::Definition> definition);  ///< CPU and CUDA
torch::CppFunction meta_kernel(std::shared_ptr<const UserOperator::Definition> definition);

}  // namespace tessera
