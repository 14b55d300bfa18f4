#pragma once
#include <optional>

#include "tile_core/base/env.h"

/// Which kernels run: enum class Policy { automatic, tile, native } in namespace tessera.
namespace tessera {

/// Sets the policy of this process, from the next call on, in all threads; nullopt: that of TESSERA_POLICY
/// again. automatic: the plan's choice. tile: a generated kernel, or an error that says why there is none.
/// native: ATen.
void set_policy(std::optional<Policy> policy);

/// The policy in force. Throws UserError where TESSERA_POLICY is not legal.
Policy policy();

}  // namespace tessera
