#pragma once
#include <optional>
#include <string>

#include "tile_core/ir/layout.h"

/// Accumulators of mma hold pairs of 16 bits: stored as they are, a row's 32 bytes would be written by
/// halves. Lanes beside each other that hold pairs side by side in two blocks of the row exchange one,
/// so that each holds four elements of one block.
namespace tessera::codegen {

inline constexpr int kPair = 2;  ///< elements

struct Exchange {
  Layout layout;  ///< after it
  int block = 1;  ///< registers before it from one block's pair to the other's
};

/// Along `axis`; none where lanes and registers do not alternate so.
std::optional<Exchange> exchange_of(const Layout& layout, AxisId axis);

/// The register before the exchange with the first block's pair, of those that are registers r to r + 3
/// after.
std::string first_pair(const Exchange& exchange, const std::string& r);

}  // namespace tessera::codegen
