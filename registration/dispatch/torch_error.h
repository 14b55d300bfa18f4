#pragma once
#include <c10/util/Exception.h>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {

/// "linear(): TEXT"; the text as it is where it begins with the operator's name, or where there is none.
inline std::string after_name(std::string_view op, std::string_view text) {
  const bool named = op.empty() || (text.starts_with(op) && text.substr(op.size()).find_first_of("(:") == 0);
  return named ? std::string(text) : std::string(op) + "(): " + std::string(text);
}

/// Runs `f` for a call of this operator; an error of the compiler, the interpreter or the driver becomes a
/// c10::Error that names the operator, which is what callers of torch's operators catch.
template <typename F>
auto with_torch_errors(std::string_view op, F f) {
  try {
    return f();
  } catch (const c10::Error&) {
    throw;
  } catch (const std::exception& error) {
    TORCH_CHECK(false, after_name(op, error.what()));
  }
}

/// The same of what no operator's call is wrong in: the text as it is.
template <typename F>
auto with_torch_errors(F f) {
  return with_torch_errors("", std::move(f));
}

}  // namespace tessera
