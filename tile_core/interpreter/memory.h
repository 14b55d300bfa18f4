#pragma once
#include "tile_core/interpreter/run.h"

namespace tessera::interpreter {

/// The offset in elements of every element of a tile within a tensor, kOutside where the tensor has none.
using Footprint = std::vector<std::int64_t>;

/// Of the tile over `axes` at the subscripts.
Footprint footprint(Run& run, TensorId tensor, const std::vector<Subscript>& subscripts,
                    const std::vector<AxisId>& axes);
/// 0 outside.
void load(const TensorView& tensor, const Footprint& from, Elements& result);
/// Nothing outside; `accumulate`: adds.
void store(const TensorView& tensor, const Footprint& to, const Elements& elements, bool accumulate);
void store(Run& run, const Store& store);
/// Of every element.
void set_zero(const TensorView& tensor);

}  // namespace tessera::interpreter
