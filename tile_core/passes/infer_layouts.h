#pragma once
#include <optional>
#include <vector>

#include "tile_core/passes/passes.h"

namespace tessera {

/// The layout of every tile in registers, as far as it is known.
class LayoutMap {
 public:
  explicit LayoutMap(std::size_t values) : layouts_(values) {}

  bool known(ValueId id) const { return layouts_.at(index_of(id)).has_value(); }
  const Layout& of(ValueId id) const { return layouts_.at(index_of(id)).value(); }
  /// The first to say decides; returns whether this was the first.
  bool set(ValueId id, Layout layout) {
    if (known(id)) return false;
    layouts_[index_of(id)] = std::move(layout);
    return true;
  }

 private:
  std::vector<std::optional<Layout>> layouts_;
};

/// Dots fix the layouts of their results, and these spread: from operands to results and back, through loops
/// and reductions. What they do not reach is laid out for the widest access to memory, the largest tile
/// first.
LayoutMap solve_layouts(const Program& program, const PassContext& context);

}  // namespace tessera
