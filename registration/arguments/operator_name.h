#pragma once
#include <string_view>

namespace tessera {

/// The name of torch.ops.tessera.<name>. A literal, so that whatever keeps it may outlive the call that it is
/// of.
class OperatorName : public std::string_view {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval OperatorName(const char* literal) : std::string_view(literal) {}
};

}  // namespace tessera
