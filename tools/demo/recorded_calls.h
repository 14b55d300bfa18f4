#pragma once
#include <functional>
#include <string>
#include <vector>

#include "registration/calls/call.h"

namespace tessera::demo {

/// A call of one of our operators, as its tile program sees it, and how often it was made with the same facts
/// and sizes.
struct RecordedCall {
  Call call;
  int count = 1;
};

/// The calls of torch.ops.tessera that `run` makes in this thread, in the order of their first occurrence.
std::vector<RecordedCall> record_calls(const std::function<void()>& run);

/// "linear M=4096 N=2304 K=768 bf16".
std::string to_text(const Call& call);

}  // namespace tessera::demo
