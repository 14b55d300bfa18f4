#pragma once
#include <string>

#include "tile_core/ir/layout.h"

/// C expressions over a layout: which element a register holds, in terms of its number. After unrolling they
/// are constants.
namespace tessera::codegen {

/// The coordinate along `axis` that register `r` adds.
std::string register_coordinate(const Layout& layout, AxisId axis, const std::string& r);
/// The coordinate along `axis` that the thread adds, in terms of `lane` and `warp`.
std::string thread_coordinate(const Layout& layout, AxisId axis);
/// The register of `to`, a layout over fewer axes, that holds the element of register `r` of `from`.
std::string register_index(const Layout& from, const Layout& to, const std::string& r);
/// The register of `from` that holds the element of register r of `to`, a layout of the lanes `first`, ... of
/// the axis `of` of `from`, seen as lanes of the axis `seen`.
std::string sliced_register(const Layout& from, const Layout& to, AxisId of, AxisId seen, int first);
/// True in one thread of those that hold the same elements; empty where every thread holds its own.
std::string first_replica(const Layout& layout);
/// The number of registers that stand side by side along `axis`, `limit` at most.
int run_length(const Layout& layout, AxisId axis, int limit);

}  // namespace tessera::codegen
