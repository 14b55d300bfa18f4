#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tile_core/ir/program.h"
#include "tile_core/target/facts.h"
#include "tile_core/target/schedule.h"

namespace tessera::ops {

/// A tile kernel that may run a call: the arguments of the operator's program, and how the compiler is to map
/// it.
struct Variant {
  Tiles tiles;
  Schedule schedule;
  bool operator==(const Variant&) const = default;
};

/// One call as the operator's program sees it: what kernels are specialised on, and the run-time sizes of its
/// dims by name.
struct Problem {
  Facts facts;
  std::map<std::string, std::int64_t, std::less<>> dims;
};

/// What an operator file offers: its formula as a tile program, its schedule space, and the work of a call.
struct Operator {
  std::string_view
      name;  ///< of its program, in keys and in records; one may serve several of torch.ops.tessera
  /// The program for these facts and tiles; its tensors stand in the order of Problem::facts.tensors.
  Program (*program)(const Facts& facts, const Tiles& tiles);
  /// Every variant worth measuring for a problem, the best guess first. Never empty.
  std::vector<Variant> (*space)(const Problem& problem, const Target& target);
  double (*flops)(const Problem& problem);  ///< floating-point operations, for TFLOP/s
  bool has_dots = false;  ///< their kernels depend on what the copy engine can copy: TensorFacts::bulk
};

const Operator& add();
const Operator& linear();  ///< linear and linear_gelu: flags bias, gelu (0 none, 1 erf, 2 tanh),
                           ///< preactivation, tf32 where f32 may be multiplied in TF32
const Operator& softmax();
const Operator& attention();  ///< scaled_dot_product_attention and flash_attention: flags causal, mask (0
                              ///< none, 1 boolean, 2 added), signed where the scale is not positive
const std::vector<const Operator*>& all();
/// By name; throws UserError that lists the operators.
const Operator& find(std::string_view name);

}  // namespace tessera::ops
