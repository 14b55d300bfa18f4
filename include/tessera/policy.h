#pragma once
#include <optional>

#include "tile_core/base/env.h"

/// Which kernels run: enum class Policy { automatic, tile, native } in namespace tessera.
namespace tessera {

/// Sets the policy of this process, from the next call on, in all threads; nullopt: that of TESSERA_POLICY
/// again. automatic: the plan's choice. tile: a generated kernel, or an error that says why there is none.
/// native: ATen. Throws UserError where it is none of these. Transforms of functorch (vmap, grad, ...),
/// forward-mode derivatives and Meta tensors know ATen's operators alone and have those under every policy.
void set_policy(std::optional<Policy> policy);

/// The policy in force. Every call asks for it, so a mistake in the environment is said by the first one,
/// whatever runs: throws UserError where a TESSERA_* variable is not legal, or TESSERA_PLANS cannot be read.
Policy policy();

}  // namespace tessera
