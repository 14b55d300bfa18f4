#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tile_core/ir/program.h"

namespace tessera::fuzz {

/// A program whose dims, axes, tensors and scalars, and itself, have other names, in another alphabetical
/// order.
class Renaming {
 public:
  explicit Renaming(Program program);

  const Program& program() const { return program_; }
  /// A text with the old names in place of the new.
  std::string undone(std::string text) const;

 private:
  void rename(std::string& name);

  Program program_;
  std::vector<std::pair<std::string, std::string>> names_;  // new, old
};

}  // namespace tessera::fuzz
