#pragma once
#include <fmt/format.h>
#include <stdexcept>
#include <string>

#include "tile_core/base/loc.h"
#include "tile_core/base/user_error.h"

namespace tessera {

template <typename... Args>
struct ErrorText {
  using type = fmt::format_string<Args...>;
};

template <typename... Args>
UserError UserError::format(typename ErrorText<Args...>::type text, Args&&... args) {
  return UserError(fmt::format(text, std::forward<Args>(args)...));
}

/// Tessera is wrong. The text names the pass or room, the value, and how to see more.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;

  template <typename... Args>
  static InternalError format(fmt::format_string<Args...> text, Args&&... args) {
    return InternalError("internal tessera error: " + fmt::format(text, std::forward<Args>(args)...));
  }
};

/// "tile error: WHAT\n  --> file:line\n   DETAILS\n   help: HELP", the form of every error of the DSL and the
/// verifier.
std::string diagnostic(const std::string& what, Loc loc, const std::string& details, const std::string& help);

}  // namespace tessera
