#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "tile_core/target/facts.h"

namespace tessera::autotune {

/// The sizes of a call by the names of the program's dims.
using Dims = std::map<std::string, std::int64_t, std::less<>>;

/// What a plan is chosen by: an operator, what its kernels are specialised on, the shape, and the device.
struct Key {
  std::string op;
  Facts facts;
  Dims dims;
  std::string device;  ///< "NVIDIA H200"
  std::string arch;    ///< "sm_90a"

  bool operator==(const Key&) const = default;
};

/// Everything but the shape, as one line: plans of two keys can only be compared where it is equal.
std::string family(const Key& key);
/// The whole key as one line: "linear bf16/16+1, ... bias=1 gelu=0 K=768 M=4096 N=3072 on NVIDIA H200
/// (sm_90a)".
std::string to_text(const Key& key);

/// The largest ratio of a dim of `a` to that of `b`, at least 1; infinite where the names differ or one size
/// is 0.
double distance(const Dims& a, const Dims& b);

}  // namespace tessera::autotune
