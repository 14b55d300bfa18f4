#pragma once
#include <cstdlib>
#include <optional>
#include <string>

#include "tile_core/base/env.h"

namespace tessera::test {

/// Sets an environment variable, or unsets it, as long as it lives.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    set(value);
  }
  ~ScopedVariable() { set(old_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
    env::reload();
  }

  std::string name_;
  std::optional<std::string> old_;
};

}  // namespace tessera::test
