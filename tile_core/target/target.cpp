#include "tile_core/target/target.h"

#include <algorithm>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

constexpr int kKiB = 1024;

Target target(std::string arch, int major, int minor, int shared_kib, int shared_sm_kib) {
  return {.arch = std::move(arch),
          .major = major,
          .minor = minor,
          .shared_bytes = shared_kib * kKiB,
          .shared_bytes_sm = shared_sm_kib * kKiB,
          .cp_async = major >= 8,
          .mma = major >= 8,
          .wgmma = major == 9};
}

std::string known_names() {
  std::string names;
  for (const Target& t : Target::all()) names += (names.empty() ? "" : ", ") + t.arch;
  return names;
}

}  // namespace

int Target::shared_bytes_for(int blocks) const {
  return std::min(shared_bytes, shared_bytes_sm / std::max(blocks, 1) - kKiB);
}

const std::vector<Target>& Target::all() {
  static const auto* targets = new std::vector<Target>{
      target("sm_80", 8, 0, 163, 164),    target("sm_86", 8, 6, 99, 100),
      target("sm_89", 8, 9, 99, 100),     target("sm_90a", 9, 0, 227, 228),
      target("sm_100a", 10, 0, 227, 228), target("sm_103a", 10, 3, 227, 228),
      target("sm_120a", 12, 0, 99, 100),
  };
  return *targets;
}

const Target& Target::named(std::string_view arch) {
  for (const Target& t : all()) {
    if (t.arch == arch) return t;
  }
  throw UserError::format("architecture '{}' is not known to Tessera, which compiles for {}", arch,
                          known_names());
}

const Target& Target::for_capability(int major, int minor) {
  const Target* best = nullptr;
  for (const Target& t : all()) {
    bool exact = t.major == major && t.minor == minor;
    bool older_of_family = t.major == major && t.minor <= minor && t.arch.back() != 'a';
    if (exact || older_of_family) best = &t;
  }
  if (best != nullptr) return *best;
  throw UserError::format(
      "this device has compute capability {}.{}, and Tessera compiles for {}; use TESSERA_POLICY=native on "
      "it",
      major, minor, known_names());
}

}  // namespace tessera
