#include "tools/demo/errors.h"

#include <fmt/format.h>

#include "perf/accuracy.h"
#include "registration/calls/views.h"

namespace tessera::demo {

bool print_errors(const std::string& what, const Results& results) {
  const perf::Accuracy accuracy{perf::error_of(results.tessera, results.expected),
                                perf::error_of(results.native, results.expected),
                                dtype_of(results.dtype).value()};
  const perf::Error &native = accuracy.native, &ours = accuracy.ours;
  fmt::print("    {:<26} native {:.2e} (rms {:.2e})   tessera {:.2e} (rms {:.2e})\n", what, native.maximum,
             native.rms, ours.maximum, ours.rms);
  if (accuracy.holds()) return true;
  fmt::print("  FAILED: tessera's error may be {:.2e} (rms {:.2e})\n", accuracy.allowed_maximum(),
             accuracy.allowed_rms());
  return false;
}

}  // namespace tessera::demo
