#include "tests/fuzz/author.h"

#include <algorithm>
#include <fmt/format.h>

namespace tessera::fuzz {

using namespace dsl;

int Author::rows_tile() {
  return wide_ ? 64 * c_.of({1, 2, 2, 3}) : 1 + c_.below(24);
}

int Author::columns_tile() {
  if (!wide_) return 1 + c_.below(24);
  return c_.chance(10) ? c_.of({8, 24}) : c_.of({16, 32, 64, 48, 128});
}

int Author::depth_tile() {
  return wide_ ? c_.of({16, 32, 64, 48}) : 1 + c_.below(24);
}

Axis Author::grid(int tile) {
  const bool again = !wide_ && !grid_.empty() && c_.chance(10);
  grid_.push_back(p_.grid(again ? x_.dim_of(grid_.front()) : x_.dim(), tile));
  return grid_.back();
}

Axis Author::columns() {
  const int tile = columns_tile();
  return c_.chance(30) ? all(tile) : grid(tile);
}

Axis Author::all(int tile) {
  covered_.push_back(p_.all(x_.dim(), tile));
  return covered_.back();
}

LoopRange Author::loop(const Dim& dim, int tile, const Operand& begin, const Operand& end) {
  return c_.chance(20) ? p_.sequential(dim, tile, begin, end) : p_.pipelined(dim, tile, begin, end);
}

LoopRange Author::loop(const Dim& dim, int tile) {
  return loop(dim, tile, 0, dim);
}

Axes Author::with_grid(const Axes& axes, bool adds) {
  Axes result = axes;
  for (const Axis& axis : grid_) {
    const bool has = std::ranges::any_of(axes, [&](const Axis& a) { return a.id() == axis.id(); });
    if (!has && !(adds && c_.chance(50))) result.push_back(axis);
  }
  return result;
}

void Author::store(const Axes& axes, int depth, const std::optional<Real>& result) {
  const std::string name = fmt::format("y{}", outputs_++);
  const int kind = result ? 0 : c_.below(10);
  const DType dtype = kind < 8 ? c_.of({f32, bf16, f16}) : kind == 8 ? c_.of({i64, i32}) : boolean;
  const bool adds = dtype == f32 && c_.chance(25);
  std::vector<Dim> dims;
  std::vector<Position> positions;
  if (x_.batch()) {
    dims.push_back(x_.batch()->dim);
    positions.emplace_back(x_.batch()->index);
  }
  for (const Axis& axis : c_.shuffled(with_grid(axes, adds))) {
    dims.push_back(x_.dim_of(axis));
    positions.emplace_back(axis);
  }
  if (kind == 8) {
    const Tile value = x_.integer(axes, depth);
    p_.out(name, dtype, dims).at(positions) = cast(dtype, value);
  } else if (kind == 9) {
    const Tile value = x_.condition(axes);
    p_.out(name, dtype, dims).at(positions) = value;
  } else {
    const Real value = result ? x_.with(*result, axes, depth) : x_.real(axes, depth);
    const Tile stored = cast(dtype, value.bound > 1000 ? x_.bounded(value) : value.tile);
    if (adds) {
      p_.out(name, dtype, dims).at(positions) += stored;
    } else {
      p_.out(name, dtype, dims).at(positions) = stored;
    }
  }
}

void Author::store_outputs(const Axes& axes, const std::optional<Real>& result,
                           const std::vector<Axes>& others, int depth) {
  store(axes, c_.below(depth + 1), result);
  for (int more = 2; more > 0 && c_.chance(40); --more) store(c_.of(others), c_.below(depth + 1));
}

Program Author::finish() {
  x_.use_all_dims();
  return p_.finish();
}

void Author::elementwise() {
  Axes axes;
  const int count = 1 + c_.below(3);
  for (int i = 0; i < count; ++i) axes.push_back(grid(1 + c_.below(count == 1 ? 64 : 12)));
  std::vector<Axes> shapes = {axes};
  if (c_.chance(60)) {
    x_.reduce_over(all(1 + c_.below(48)));
    Axes wide = axes;
    wide.push_back(covered_.back());
    if (count < 3) shapes.push_back(wide);
  }
  const int values = c_.below(3);
  for (int i = 0; i < values; ++i) x_.offer(x_.real(x_.some_of(axes), 2));
  store_outputs(shapes.back(), std::nullopt, shapes, 3);
}

void Author::update(Var& state, const Real& x, const Axis& axis) {
  switch (c_.below(4)) {
    case 0:
      state += reduce_sum(x_.bounded(x), axis);
      break;
    case 1:
      state = max(state, reduce_max(x.tile, axis));
      break;
    case 2:
      state = min(state, reduce_min(x.tile, axis));
      break;
    default:
      state = state * 0.5 + reduce_sum(x_.bounded(x), axis);
  }
}

void Author::recurrences() {
  Axes axes = {grid(1 + c_.below(32))};
  if (c_.chance(40)) axes.push_back(grid(1 + c_.below(8)));
  const Dim T = x_.dim();
  Var first = p_.zeros(f32, axes), second = p_.full(f32, axes, c_.below(2)), count = p_.full(i64, axes, 0);
  const int tile = 1 + c_.below(3) * c_.below(12);
  const bool swaps = c_.chance(30), stores = c_.chance(40), counts = c_.chance(30);
  const std::size_t before = x_.offered();
  for (Axis t : loop(T, tile)) {
    x_.reduce_over(t);
    Axes wide = axes;
    wide.push_back(t);
    x_.offer({cast(f32, first), 100});
    const Real x = x_.loaded(wide);
    update(first, x, t);
    if (swaps) {
      const Tile old = cast(f32, second);
      second = cast(f32, first);
      first = old;
    } else if (c_.chance(50)) {
      update(second, x_.real(wide, 2), t);
    }
    if (counts)
      count = count + reduce_sum(where(x_.condition(wide), p_.full(i64, {}, 1), p_.full(i64, wide, 0)), t);
    x_.forget(before);
    if (stores) {
      x_.offer({cast(f32, first), 100});
      store(wide, 1);
      x_.forget(before);
    }
    x_.stop_reducing();
  }
  const Real result{cast(f32, first), 1000};
  x_.offer({cast(f32, second), 1000});
  store_outputs(axes, result, {axes}, 2);
  if (counts) {
    std::vector<Dim> dims;
    std::vector<Position> positions;
    for (const Axis& axis : axes) dims.push_back(x_.dim_of(axis)), positions.emplace_back(axis);
    p_.out(fmt::format("y{}", outputs_++), i64, dims).at(positions) = count;
  }
}

}  // namespace tessera::fuzz
