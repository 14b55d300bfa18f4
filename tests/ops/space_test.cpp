#include <gtest/gtest.h>

#include "ops/operator.h"
#include "tile_core/base/error.h"
#include "tile_core/passes/pipeline.h"
#include "tile_core/passes/thread_parts.h"

namespace tessera {
namespace {

using ops::Problem;
using ops::Variant;

TensorFacts facts(DType dtype, int contiguous_dim) {
  return {.dtype = dtype, .contiguous_dim = contiguous_dim, .alignment = 16};
}

Problem attention(DType dtype, std::int64_t head_dim, std::int64_t rows) {
  TensorFacts matrix = facts(dtype, 3);
  return {{.tensors = {matrix, matrix, matrix, matrix, facts(f32, 2)}, .flags = {{"causal", 1}, {"mask", 0}}},
          {{"B", 2}, {"H", 4}, {"G", 4}, {"I", rows}, {"J", 77}, {"D", head_dim}, {"E", head_dim}}};
}

Problem linear(DType dtype, std::int64_t m, std::int64_t n) {
  TensorFacts matrix = facts(dtype, 1);
  return {{.tensors = {matrix, matrix, matrix}, .flags = {{"bias", 0}, {"gelu", 0}, {"preactivation", 0}}},
          {{"M", m}, {"N", n}, {"K", 100}}};
}

Problem softmax(DType dtype, std::int64_t n, bool inner) {
  Problem problem{
      {.tensors = {facts(dtype, 1), facts(dtype, 1)}, .flags = {{"outer", 1}, {"inner", inner ? 1 : 0}}},
      {{"O0", 100}, {"N", n}}};
  if (inner) problem.dims["I"] = 33;
  return problem;
}

Problem add(DType dtype, std::int64_t n) {
  return {{.tensors = std::vector<TensorFacts>(3, facts(dtype, 1)), .flags = {{"rank", 2}}},
          {{"D0", 3}, {"D1", n}}};
}

/// Whether a variant goes through all passes on the target; no thread has much of a tile then.
bool fits(const ops::Operator& op, const Problem& problem, const Variant& variant, const Target& target) {
  try {
    const ThreadPart part = largest_thread_part(
        lower(op.program(problem.facts, variant.tiles), {problem.facts, variant.schedule, target}));
    EXPECT_LE(part.elements, 256) << to_text(variant.schedule);
    EXPECT_LE(part.copies, 64) << to_text(variant.schedule);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

void expect_one_fits(const ops::Operator& op, const Problem& problem) {
  for (const Target& target : Target::all()) {
    std::vector<Variant> variants = op.space(problem, target);
    bool any = std::any_of(variants.begin(), variants.end(),
                           [&](const Variant& variant) { return fits(op, problem, variant, target); });
    EXPECT_TRUE(any) << op.name << " on " << target.arch;
  }
}

TEST(Space, HoldsAVariantForEveryProblemOnEveryTarget) {
  for (DType dtype : {f16, f32}) {
    for (std::int64_t head_dim : {1, 64, 128, 129, 192, 256}) {
      for (std::int64_t rows : {1, 1000}) expect_one_fits(ops::attention(), attention(dtype, head_dim, rows));
    }
    for (std::int64_t m : {1, 50, 5000}) {
      for (std::int64_t n : {1, 5000}) expect_one_fits(ops::linear(), linear(dtype, m, n));
    }
    for (std::int64_t n : {1, 100, 1000, 5000, 16384, 100000}) {
      expect_one_fits(ops::softmax(), softmax(dtype, n, false));
      expect_one_fits(ops::softmax(), softmax(dtype, n, true));
    }
    for (std::int64_t n : {1, 1000, 100000}) expect_one_fits(ops::add(), add(dtype, n));
  }
}

}  // namespace
}  // namespace tessera
