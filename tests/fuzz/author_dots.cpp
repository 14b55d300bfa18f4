#include <deque>
#include <fmt/format.h>

#include "tests/fuzz/author.h"
#include "tile_core/dsl/online_softmax.h"

/// The forms that have dots.
namespace tessera::fuzz {

using namespace dsl;

namespace {

constexpr double kSum = 64;  // of a product, roughly

DType operand_dtype(Choices& c, bool wide) {
  return wide ? c.of({bf16, f16}) : c.of({f32, bf16, f16});
}

/// Of the other operand: mostly the same.
DType other_dtype(Choices& c, DType dtype) {
  return c.chance(15) ? c.of({bf16, f16, f32}) : dtype;
}

}  // namespace

Tile Author::operand(DType dtype, const Axes& axes, bool may_compute) {
  if (!may_compute || !c_.chance(25)) return x_.load(dtype, axes);
  return cast(dtype, x_.bounded(x_.real(axes, 1)));
}

Tile Author::product(const Tile& a, const Tile& b, const Axis& axis) {
  const bool f32s = a.type().dtype == f32 && b.type().dtype == f32;
  const Precision precision =
      f32s ? c_.of({Precision::ieee, Precision::tf32, Precision::tf32x3}) : Precision::ieee;
  return !wide_ && c_.chance(25) ? dot(b, a, axis, precision) : dot(a, b, axis, precision);
}

void Author::products() {
  const Axis m = grid(rows_tile()), n = columns();
  if (c_.chance(25)) x_.add_batch();
  const Dim K = x_.dim();
  const int tile = depth_tile();
  const DType dtype = operand_dtype(c_, wide_), other = other_dtype(c_, dtype);
  std::deque<Var> sums;
  const int count = 1 + c_.below(2);
  for (int i = 0; i < count; ++i) sums.emplace_back(p_.zeros(f32, {m, n}));
  Var beside = p_.full(f32, {m}, c_.below(2));
  const bool reduces = c_.chance(20), shares = c_.chance(50), scales = c_.chance(15);
  auto body = [&](const Axis& k) {
    std::optional<Tile> rows;
    for (Var& sum : sums) {
      if (!rows || !shares) {
        const Tile fresh = operand(dtype, {m, k}, true);
        rows.emplace(fresh);
      }
      const Tile added = product(*rows, operand(other, {n, k}, !wide_), k);
      if (scales) {
        sum = sum * 0.5 + added;
      } else {
        sum += added;
      }
    }
    if (reduces) update(beside, {cast(f32, *rows), 5, true}, k);
  };
  if (c_.chance(20)) {
    const Tile middle = K / (2 * tile) * tile;
    for (Axis k : loop(K, tile, 0, middle)) body(k);
    for (Axis k : loop(K, tile, middle, K)) body(k);
  } else {
    for (Axis k : loop(K, tile)) body(k);
  }
  const Tile first = cast(f32, sums.front()), last = cast(f32, sums.back());
  if (count == 2) x_.offer({first, kSum});
  const Real result{count == 1 ? first : c_.chance(50) ? first * tanh(last) : max(first, last), kSum};
  if (reduces) x_.offer({cast(f32, beside), kSum});
  if (c_.chance(30)) x_.reduce_over(n);
  std::vector<Axes> others = {{m, n}};
  if (!covered_.empty()) others.push_back({m});
  store_outputs({m, n}, result, others, 2);
}

Tile Author::scores(const Axis& i, const Axis& j, const Axis& d, const Tile& query, DType dtype) {
  const Tile raw = product(query, operand(other_dtype(c_, dtype), {j, d}, !wide_), d) * 0.25;
  switch (c_.below(5)) {
    case 1:
      return where(j.index() <= i.index() + x_.scalar(i64), raw, -inf);
    case 2:
      return where(x_.load(boolean, {i, j}), raw, -inf);
    case 3:
      return raw + cast(f32, x_.load(c_.of({f32, dtype}), {i, j}));
    case 4:
      return raw * x_.scalar(f32);
    default:
      return raw;
  }
}

void Author::chain() {
  const Axis i = grid(rows_tile());
  const Axis d = all(depth_tile()), e = all(columns_tile());
  if (c_.chance(25)) x_.add_batch();
  const Dim J = x_.dim();
  const DType dtype = operand_dtype(c_, wide_), other = other_dtype(c_, dtype);
  const Tile query = operand(dtype, {i, d}, true);
  Var sum = p_.zeros(f32, {i, e}), beside = p_.zeros(f32, {i});
  const int softmax = c_.below(3);  // none, exact, lazy
  OnlineSoftmax row(p_, {i}, softmax == 2 ? Maximum::lazy : Maximum::exact);
  const bool wants_reduction = softmax < 2 && c_.chance(30), gradient = c_.chance(20), ends = c_.chance(25);
  const bool reduces = wants_reduction && !ends;  // nothing of a step that a row does not see may count
  const int beyond = ends ? 8 * c_.below(8) : 0;
  const Tile end = ends ? min(J, i.end() + beyond) : cast(i64, J);
  for (Axis j : loop(J, depth_tile(), 0, end)) {
    const Tile all_scores = scores(i, j, d, query, dtype);
    const Tile s = ends ? where(j.index() <= i.index() + beyond, all_scores, -inf) : all_scores;
    const Tile bounded = x_.bounded({all_scores, kSum});
    const Tile unmasked = softmax > 0 ? row.weights(s, j) : c_.chance(50) ? exp2(bounded) : bounded * 0.5;
    const Tile weights =
        ends && softmax == 0 ? where(j.index() <= i.index() + beyond, unmasked, 0) : unmasked;
    const Tile slope =
        gradient ? product(query, operand(dtype, {j, d}, false), d) * 0.125 * weights : weights;
    const Tile added = product(cast(dtype, x_.bounded({slope, kSum})), operand(other, {j, e}, !wide_), j);
    sum = softmax > 0 ? sum * row.keep() + added : sum + added;
    if (reduces) update(beside, {bounded, 4}, j);
  }
  const Tile result = softmax > 0 ? sum * row.inverse_total() : cast(f32, sum);
  if (softmax > 0) x_.offer({row.logsumexp(), kSum});
  if (reduces) x_.offer({cast(f32, beside), kSum});
  if (c_.chance(30)) x_.reduce_over(e);
  if (c_.chance(20)) {
    const Axis r = all(columns_tile());
    const Tile left = cast(dtype, x_.bounded({result, kSum}));
    const Real third{product(left, operand(dtype, {e, r}, !wide_), e), kSum};
    store_outputs({i, r}, third, {{i, e}, {i}}, 2);
  } else {
    store_outputs({i, e}, Real{result, kSum}, {{i, e}, {i}}, 2);
  }
}

void Author::nested() {
  const Axis m = grid(rows_tile());
  const Dim N = x_.dim(), K = x_.dim();
  const int tile = columns_tile(), depth = depth_tile();
  const DType dtype = operand_dtype(c_, wide_), other = other_dtype(c_, dtype);
  const bool hoists = c_.chance(40);
  const Axis whole = all(depth);
  Var total = p_.zeros(f32, {m});
  for (Axis n : loop(N, tile)) {
    Var sum = p_.zeros(f32, {m, n});
    if (hoists) {
      const Tile rows = operand(dtype, {m, whole}, true);
      for (Axis k : loop(K, depth)) {
        sum += product(rows, operand(other, {n, whole}, true), whole) * 0.5;
        update(total, x_.loaded({m, k}), k);
      }
    } else {
      for (Axis k : loop(K, depth))
        sum += product(operand(dtype, {m, k}, true), operand(other, {n, k}, true), k);
    }
    update(total, {cast(f32, sum), kSum}, n);
  }
  store_outputs({m}, Real{cast(f32, total), kSum}, {{m}}, 2);
}

}  // namespace tessera::fuzz
