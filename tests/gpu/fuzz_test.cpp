#include "tests/fuzz/check_call.h"
#include "tests/gpu/gpu.h"

/// A bounded run of what `tessera_fuzz --calls N --device cuda` does for long. The soak goes by command: its
/// memory is measured, and nobody else may use the device.
namespace tessera::fuzz {
namespace {

TEST(Fuzz, RandomCallsAreNearFloat64) {
  TESSERA_NEEDS_GPU();
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Choices choices(seed);
    const std::optional<Failure> failure = check_call(choices, "cuda", counts);
    EXPECT_FALSE(failure) << "tessera_fuzz --calls 1 --device cuda --seed " << seed << ": " << failure->kind
                          << ": " << failure->details << "\n"
                          << failure->text;
  }
}

}  // namespace
}  // namespace tessera::fuzz
