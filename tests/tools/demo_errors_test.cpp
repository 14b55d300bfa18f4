#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <limits>

#include "tools/demo/errors.h"

namespace tessera::demo {
namespace {

/// The line that is printed where ours and native's results are this far from 1; "no, " first where it fails.
std::string shown(double native, double tessera) {
  const auto of = [](double value) { return at::full({4}, value, at::kDouble); };
  testing::internal::CaptureStdout();
  const bool good = print_errors("error", {at::kBFloat16, of(1 + native), of(1 + tessera), of(1)});
  const std::string text = testing::internal::GetCapturedStdout();
  return (good ? "" : "no, ") + text;
}

TEST(PrintErrors, OursMayErrAsMuchAsNative) {
  EXPECT_EQ(
      shown(0.5, 0.5),
      "    error                      native 5.00e-01 (rms 5.00e-01)   tessera 5.00e-01 (rms 5.00e-01)\n");
}

TEST(PrintErrors, LargerErrorsFail) {
  EXPECT_EQ(
      shown(0, 0.5),
      "no,     error                      native 0.00e+00 (rms 0.00e+00)   tessera 5.00e-01 (rms 5.00e-01)\n"
      "  FAILED: tessera's error may be 1.00e-03 (rms 1.00e-03)\n");
}

TEST(PrintErrors, NanFails) {
  EXPECT_TRUE(shown(0, std::numeric_limits<double>::quiet_NaN()).starts_with("no, "));
  EXPECT_TRUE(shown(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN())
                  .starts_with("no, "));
}

}  // namespace
}  // namespace tessera::demo
