#include "registration/native/composed_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_safe_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <algorithm>
#include <limits>
#include <vector>

namespace tessera::native {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kScores = int64_t{1} << 24;  // elements held at a time

/// The sizes of a call, and what a block of query rows sees.
struct Blocks {
  explicit Blocks(const AttentionArguments& a)
      : batch(a.query.size(0)),
        heads(a.query.size(1)),
        groups(a.key.size(1)),
        rows(a.query.size(2)),
        keys(a.key.size(2)),
        causal(a.is_causal),
        diagonal(std::clamp(a.diagonal, -rows, keys)),
        step(std::clamp<int64_t>(kScores / std::max<int64_t>(batch * heads * keys, 1), 1,
                                 std::max<int64_t>(rows, 1))),
        dtype(a.query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat) {}

  /// [B, H, n, *] -> [B, H_kv, H / H_kv * n, *]: the rows that share a key head.
  at::Tensor grouped(const at::Tensor& t) const {
    const int64_t share = groups == 0 ? 1 : heads / groups;
    return t.reshape({batch, groups, share * t.size(2), t.size(3)});
  }
  at::Tensor ungrouped(const at::Tensor& t, int64_t n) const {
    return t.reshape({batch, heads, n, t.size(3)});
  }

  /// Keys that some row of [row, row + n) sees.
  int64_t visible(int64_t row, int64_t n) const {
    return causal ? std::clamp<int64_t>(row + n + diagonal, 0, keys) : keys;
  }

  int64_t batch, heads, groups, rows, keys;
  bool causal;
  int64_t diagonal, step;
  at::ScalarType dtype;
};

/// scale * query key^T of rows [row, row + n): [B, H, n, visible], -inf where a row does not see a key.
at::Tensor scores(const Blocks& b, const at::Tensor& scaled_query, const at::Tensor& key, int64_t row) {
  const int64_t n = scaled_query.size(2), visible = key.size(2);
  at::Tensor s = b.ungrouped(at::matmul(b.grouped(scaled_query), key.transpose(-2, -1)), n);
  if (!b.causal) return s;
  const at::Tensor sees = at::ones({n, visible}, s.options().dtype(at::kBool)).tril(row + b.diagonal);
  return s.masked_fill(sees.logical_not(), -kInfinity);
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> composed_attention(const AttentionArguments& a) {
  const Blocks b(a);
  const at::Tensor key = a.key.to(b.dtype), value = a.value.to(b.dtype);
  std::vector<at::Tensor> outputs, logsumexps;
  for (int64_t row = 0; row == 0 || row < b.rows; row += b.step) {
    const int64_t n = std::min(b.step, b.rows - row), visible = b.visible(row, n);
    const at::Tensor query = a.query.narrow(2, row, n).to(b.dtype) * a.scale_value();
    const at::Tensor s = scores(b, query, key.narrow(2, 0, visible), row);
    const at::Tensor weights = at::_safe_softmax(s, -1);  // 0 in a row that sees no key
    const at::Tensor output = at::matmul(b.grouped(weights), value.narrow(2, 0, visible));
    outputs.push_back(b.ungrouped(output, n).to(a.query.scalar_type()));
    logsumexps.push_back(at::logsumexp(s.detach(), {-1}).to(at::kFloat));
  }
  return {at::cat(outputs, 2), at::cat(logsumexps, 2)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> composed_attention_backward(const AttentionArguments& a,
                                                                           const at::Tensor& grad) {
  const Blocks b(a);
  const double scale = a.scale_value();
  const at::Tensor key = a.key.to(b.dtype), value = a.value.to(b.dtype);
  at::Tensor grad_key = at::zeros_like(key, at::MemoryFormat::Contiguous);
  at::Tensor grad_value = at::zeros_like(value, at::MemoryFormat::Contiguous);
  std::vector<at::Tensor> grad_queries;
  for (int64_t row = 0; row == 0 || row < b.rows; row += b.step) {
    const int64_t n = std::min(b.step, b.rows - row), visible = b.visible(row, n);
    const auto rows = [&](const at::Tensor& t) { return t.narrow(2, row, n).to(b.dtype); };
    const at::Tensor query = rows(a.query) * scale, k = key.narrow(2, 0, visible),
                     v = value.narrow(2, 0, visible);
    const at::Tensor g = b.grouped(rows(grad));
    const at::Tensor weights = at::_safe_softmax(scores(b, query, k, row), -1);
    const at::Tensor grad_weights = b.ungrouped(at::matmul(g, v.transpose(-2, -1)), n);
    const at::Tensor grad_scores = b.grouped(at::_softmax_backward_data(grad_weights, weights, -1, b.dtype));
    grad_queries.push_back((b.ungrouped(at::matmul(grad_scores, k), n) * scale).to(a.query.scalar_type()));
    grad_key.narrow(2, 0, visible) += at::matmul(grad_scores.transpose(-2, -1), b.grouped(query));
    grad_value.narrow(2, 0, visible) += at::matmul(b.grouped(weights).transpose(-2, -1), g);
  }
  return {at::cat(grad_queries, 2), grad_key.to(a.key.scalar_type()), grad_value.to(a.value.scalar_type())};
}

}  // namespace tessera::native
