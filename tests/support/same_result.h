#pragma once
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "tile_core/interpreter/buffer.h"
#include "tile_core/interpreter/interpreter.h"

namespace tessera::test {

/// One call of a program: the sizes of its dims and its scalars by name, and what its inputs are drawn from.
struct Call {
  std::map<std::string, std::int64_t> dims;
  std::map<std::string, double> scalars = {};
  unsigned seed = 1;
  double mean = 0;           ///< of its floats
  bool alternating = false;  ///< every second input has the negative mean
  int infinite = -1;         ///< the tensor whose first and last float are inf
};

/// The tensors of a call, dense, in order of declaration: inputs random (floats normal, integers 0 to 7,
/// booleans fair), outputs filled with NaN or, where they are integers, -1.
std::vector<Buffer> arguments(const Program& program, const Call& call);
/// Interprets the program on them.
void run(const Program& program, const Call& call, std::vector<Buffer>& tensors,
         const InterpretOptions& options = {});
/// The elements of every tensor after a run on random inputs.
std::vector<std::vector<double>> outputs(const Program& program, const Call& call,
                                         const InterpretOptions& options = {});

/// Whether a program adds tiles to an output, in an order that passes and the roles of a run may change.
bool accumulates(const Program& program);

/// What a right program does not care about: whether what is asynchronous happens as late or as early as it
/// may, which only the stages from Stage::synced on know, and in which order roles go on.
std::vector<InterpretOptions> schedules(const Program& program);

/// Whether a tensor's elements are the same: bitwise, or within `tolerance` times the largest finite one, or
/// times `floor` where that is larger.
::testing::AssertionResult same_values(const std::string& tensor, const std::vector<double>& before,
                                       const std::vector<double>& after, double tolerance, double floor = 0);

/// Whether two programs over the same tensors give the same outputs: bitwise, or within `tolerance` times the
/// largest magnitude of the output. The second runs on all its schedules.
::testing::AssertionResult same_result(const Program& before, const Program& after, const Call& call,
                                       double tolerance = 0);

}  // namespace tessera::test
