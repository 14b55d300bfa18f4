#pragma once
#include <stdexcept>

namespace tessera {

/// The argument of `UserError::format`; tile_core/base/error.h has it, for the library's own files.
template <typename... Args>
struct ErrorText;

/// The caller's program, shape, file or setting is wrong. The text says what, where, the values and a way
/// out.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  template <typename... Args>
  static UserError format(typename ErrorText<Args...>::type text, Args&&... args);
};

}  // namespace tessera
