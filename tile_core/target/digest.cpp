#include "tile_core/target/digest.h"

#include <fmt/format.h>

#include "tile_core/base/sha256.h"
#include "tile_core/ir/print.h"

namespace tessera {

std::string digest_of(const Program& traced, const Facts& facts, const Schedule& schedule,
                      const Target& target) {
  constexpr std::size_t kDigits = 12;
  std::string all = fmt::format("{}\n{}\n{} {} {}", to_text(traced), to_text(schedule), target.arch,
                                target.mma, target.wgmma);
  for (const TensorFacts& t : facts.tensors)
    all += fmt::format("\n{} {} {} {}", name_of(t.dtype), t.contiguous_dim, t.alignment, t.bulk);
  for (const auto& [flag, value] : facts.flags) all += fmt::format("\n{}={}", flag, value);
  return sha256(all).substr(0, kDigits);
}

}  // namespace tessera
