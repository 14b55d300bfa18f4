#include "perf/problem.h"

#include "perf/inputs.h"
#include "perf/matmul_precision.h"
#include "registration/dispatch/shaped_call.h"
#include "tile_core/base/error.h"

namespace tessera::perf {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

Shapes attention_shapes(const CallSpec& spec) {
  const std::int64_t B = spec.shape[0], H = spec.shape[1], S = spec.shape[2], D = spec.shape[3];
  const std::int64_t heads = spec.kv_heads == 0 ? H : spec.kv_heads;
  const std::int64_t length = spec.kv_length == 0 ? S : spec.kv_length;
  Shapes shapes = {{B, H, S, D}, {B, heads, length, D}, {B, heads, length, D}};
  if (spec.mask == CallSpec::Mask::boolean) shapes.push_back({B, 1, 1, length});
  if (spec.mask == CallSpec::Mask::added) shapes.push_back({S, length});
  return shapes;
}

Shapes shapes_of(const CallSpec& spec) {
  if (spec.op == "add") return {spec.shape, spec.other.empty() ? spec.shape : spec.other};
  if (spec.op == "softmax") return {spec.shape};
  if (spec.is_attention()) return attention_shapes(spec);
  const std::int64_t M = spec.shape[0], K = spec.shape[1], N = spec.shape[2];
  Shapes shapes = {{M, K}, {N, K}};
  if (spec.bias) shapes.push_back({N});
  return shapes;
}

}  // namespace

CallShape shape_of(const CallSpec& spec) {
  return {.op = spec.op,
          .shapes = shapes_of(spec),
          .options = {.dtype = scalar_type(spec.dtype),
                      .approximate = spec.approximate,
                      .dim = spec.dim,
                      .mask_dtype = spec.mask == CallSpec::Mask::added ? scalar_type(spec.dtype) : c10::kBool,
                      .is_causal = spec.causal,
                      .training = spec.training}};
}

void check_shapes(const CallSpec& spec) {
  const MatmulPrecision precision(spec);
  dispatch::call_of(shape_of(spec));
}

Call call_of(const CallSpec& spec) {
  const MatmulPrecision precision(spec);
  Call call = dispatch::call_of(shape_of(spec));
  if (call.unsupported().empty()) return call;
  throw UserError::format("no tile kernel can run {}: {}", spec.op, call.unsupported());
}

}  // namespace tessera::perf
