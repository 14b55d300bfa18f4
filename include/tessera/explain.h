#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/call_shape.h"

/// Why a call runs as it does.
namespace tessera {

struct Explanation {
  struct Candidate {
    std::string name;                    ///< "native", or tiles and schedule
    std::optional<double> microseconds;  ///< where a record has it
    std::string verdict;                 ///< "chosen", or why it was rejected
  };

  std::string call;    ///< operator, sizes, layouts, flags, device
  bool native = true;  ///< ATen runs
  std::string plan;    ///< "native", or tiles and schedule
  std::string source;  ///< "the user's records", "the cost model", ...
  std::string reason;  ///< one sentence
  std::vector<Candidate> candidates;

  std::string text() const;  ///< all of it, in lines for people
};

/// The plan for a call under the policy in force: explain("linear", {{4096, 768}, {3072, 768}}).
/// device: a name or an architecture ("H200", "sm_80"), which need not be in this machine; empty: torch's
/// current device, the CPU where there is no GPU. Throws UserError for an operator or a device that there is
/// not, and in the operator's words for shapes that it would refuse. Of linear and linear_gelu in fp32 it is
/// the plan under torch's float32-matmul-precision at this moment: calls in TF32 have plans of their own.
Explanation explain(std::string_view op, const std::vector<std::vector<int64_t>>& shapes,
                    const CallOptions& options = {}, std::string_view device = {});

}  // namespace tessera
