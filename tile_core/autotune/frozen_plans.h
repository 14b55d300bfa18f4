#pragma once
#include <map>
#include <optional>
#include <string>

#include "tile_core/autotune/key.h"
#include "tile_core/autotune/variant.h"

namespace tessera::autotune {

/// Plans by key, kept in a file: a process that loads it runs the same kernels, hence the same bits.
class FrozenPlans {
 public:
  static constexpr int kFormat = 1;

  /// Throws UserError where the file is not whole: a process that asked for the same bits must not get
  /// others.
  static FrozenPlans from_file(const std::string& path);
  /// Throws UserError where the file cannot be written.
  void write(const std::string& path) const;

  /// nullopt: native.
  void add(const Key& key, const std::optional<Variant>& variant);
  /// nullptr: no plan for this very shape.
  const std::optional<Variant>* find(const Key& key) const;

  std::size_t size() const { return plans_.size(); }

 private:
  struct Plan {
    Key key;
    std::optional<Variant> variant;
  };
  std::map<std::string, Plan> plans_;  // by to_text(key): the order in the file
};

}  // namespace tessera::autotune
