#pragma once
#include <string>

namespace tessera {

/// Whether this copy of the library is the one that registers the operators: not where the process has
/// another torch than the one it was built for, nor where another copy of the library has registered them
/// already. Then nothing is registered, and stderr says why. Every block of registrations asks first; none
/// may throw, which would end the process.
[[gnu::visibility("hidden")]] bool may_register();

/// The schemas are about to be defined by this copy.
[[gnu::visibility("hidden")]] void schemas_are_ours();

/// Of the libtorch in this process, "2.11.0".
std::string torch_version();

/// Why this process must not use the library: it runs another torch. Empty where it may.
std::string torch_problem();

}  // namespace tessera
