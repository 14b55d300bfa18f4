#pragma once
#include "ops/operator.h"
#include "perf/call_spec.h"
#include "registration/calls/call.h"
#include "tessera/call_shape.h"

namespace tessera::perf {

/// The call's tensors by their sizes, in the order of the operator's arguments: self, other; input, weight,
/// bias; self; query, key, value, mask.
CallShape shape_of(const CallSpec& spec);

/// Throws UserError where the call breaks the operator's rules.
void check_shapes(const CallSpec& spec);

/// The call as its tile program sees it; tensors have no memory. Throws UserError where no tile kernel can
/// run it, or where it breaks the operator's rules.
Call call_of(const CallSpec& spec);

}  // namespace tessera::perf
