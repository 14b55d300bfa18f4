#pragma once
#include <optional>

#include "registration/calls/call.h"
#include "tessera/call_shape.h"
#include "tile_core/autotune/device.h"

namespace tessera::dispatch {

/// The call of contiguous tensors of these shapes; checks as the operator does. Throws UserError for an
/// unknown operator, a wrong number of shapes, and in the operator's words for shapes that it refuses.
Call call_of(const CallShape& shape);

/// By name; the current GPU where the name is empty; nullopt: the CPU.
std::optional<autotune::Device> device_of(std::string_view name);

}  // namespace tessera::dispatch
