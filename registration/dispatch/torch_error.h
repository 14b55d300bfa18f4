#pragma once
#include <c10/util/Exception.h>
#include <exception>

namespace tessera {

/// Runs `f`; an error of the compiler or the driver becomes a c10::Error of the same text, which is what
/// callers of torch's operators catch.
template <typename F>
auto with_torch_errors(F f) {
  try {
    return f();
  } catch (const c10::Error&) {
    throw;
  } catch (const std::exception& error) {
    TORCH_CHECK(false, error.what());
  }
}

}  // namespace tessera
