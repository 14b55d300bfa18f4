#include "tests/fuzz/expressions.h"

#include <algorithm>
#include <fmt/format.h>

namespace tessera::fuzz {
namespace {

using namespace dsl;

constexpr double kNormal = 5;  // a bound of random normal numbers
constexpr double kTame = 4;    // what may be exponentiated

bool same_axes(const Tile& tile, const Axes& axes) {
  const auto& own = tile.type().axes;
  return own.size() == axes.size() &&
         std::ranges::all_of(axes, [&](const Axis& axis) { return tile.type().has(axis.id()); });
}

/// How many elements a tile over these axes has.
int lanes(const Axes& axes) {
  int product = 1;
  for (const Axis& axis : axes) product *= axis.info().extent;
  return product;
}

constexpr int kMostLanes = 1 << 14;

}  // namespace

Dim Expressions::dim() {
  return dims_.emplace_back(p_.dim(fmt::format("D{}", dims_.size())));
}

Dim Expressions::dim_of(const Axis& axis) {
  used_.insert(axis.info().dim);
  return {&axis.tracer(), axis.info().dim};
}

void Expressions::use_all_dims() {
  for (const Dim& dim : dims_) {
    if (used_.insert(dim.id()).second) p_.in(fmt::format("x{}", inputs_++), f32, {dim});
  }
}

Tile Expressions::scalar(DType dtype) {
  return p_.scalar(fmt::format("s{}", scalars_++), dtype);
}

void Expressions::forget(std::size_t offered) {
  while (pool_.size() > offered) pool_.pop_back();
}

Axes Expressions::some_of(const Axes& axes) {
  Axes result;
  for (const Axis& axis : axes) {
    if (!c_.chance(40)) result.push_back(axis);
  }
  return result;
}

void Expressions::add_batch() {
  const Dim own = dim();
  used_.insert(own.id());
  batch_.emplace(Batch{own, p_.grid(own)});
}

Tile Expressions::load(DType dtype, const Axes& axes) {
  std::vector<Dim> dims;
  std::vector<Position> positions;
  if (batch_ && c_.chance(60)) {
    dims.push_back(batch_->dim);
    positions.emplace_back(batch_->index);
  }
  for (const Axis& axis : c_.shuffled(axes)) {
    dims.push_back(dim_of(axis));
    positions.emplace_back(axis);
  }
  return p_.in(fmt::format("x{}", inputs_++), dtype, dims).at(positions);
}

Real Expressions::loaded(const Axes& axes) {
  const DType dtype = c_.of({f32, f16, bf16});
  if (!c_.chance(15)) return {cast(f32, load(dtype, axes)), kNormal, true};
  std::vector<Dim> dims = {axes.empty() || c_.chance(60) ? dim() : dim_of(c_.of(axes))};
  used_.insert(dims.front().id());
  std::vector<Position> positions;
  switch (c_.below(3)) {
    case 0:
      positions.emplace_back(c_.below(3) - 1);
      break;
    case 1:  // a row that memory names, perhaps one outside of the tensor
      positions.emplace_back(load(c_.of({i64, i32}), {}) - c_.below(3));
      break;
    default:
      positions.emplace_back(Tile(scalar(i64)));
  }
  for (const Axis& axis : c_.shuffled(axes)) {
    dims.push_back(dim_of(axis));
    positions.emplace_back(axis);
  }
  return {cast(f32, p_.in(fmt::format("x{}", inputs_++), dtype, dims).at(positions)), kNormal, true};
}

std::optional<Real> Expressions::remembered(const Axes& axes) {
  std::vector<const Real*> fitting;
  for (const Real& value : pool_) {
    if (same_axes(value.tile, axes)) fitting.push_back(&value);
  }
  if (fitting.empty()) return std::nullopt;
  return *c_.of(fitting);
}

Real Expressions::leaf(const Axes& axes) {
  switch (c_.below(6)) {
    case 1:
    case 2:
    case 3:
      if (auto value = remembered(axes)) return *value;
      break;
    case 4:
      return {cast(f32, integer(axes, 1)) * 0.0625, kNormal, false};
    case 5:
      if (axes.empty()) return {scalar(f32), 1, true};
      break;
    default:
      break;
  }
  return loaded(axes);
}

Tile Expressions::bounded(const Real& x) {
  return x.bound <= kTame ? x.tile : min(max(x.tile, -kTame), kTame);
}

Real Expressions::unary(const Real& x) {
  switch (c_.below(13)) {
    case 0:
      return {-x.tile, x.bound, x.exact};
    case 1:
      return {abs(x.tile), x.bound, x.exact};
    case 2:
      return {exp2(bounded(x)), 16};
    case 3:
      return {exp(bounded(x)), 55};
    case 4:
      return {tanh(x.tile), 1};
    case 5:
      return {erf(x.tile), 1};
    case 6:
      return {erfc(x.tile), 2};
    case 7:
      return {sqrt(abs(x.tile) + 1), x.bound + 1};
    case 8:
      return {rsqrt(abs(x.tile) + 1), 1};
    case 9:
      return {log(abs(x.tile) + 1), x.bound};
    case 10:
      return {log2(abs(x.tile) + 1), x.bound * 1.5};
    case 11:
      return {gelu(x.tile), x.bound};
    default: {
      const DType dtype = c_.of({bf16, f16});
      if (x.bound > 1000) return {cast(f32, cast(dtype, bounded(x))), kTame, x.exact};
      return {cast(f32, cast(dtype, x.tile)), x.bound, x.exact};
    }
  }
}

Real Expressions::binary(const Real& a, const Real& b) {
  switch (c_.below(8)) {
    case 0:
      return {a.tile + b.tile, a.bound + b.bound};
    case 1:
      return {a.tile - b.tile, a.bound + b.bound};
    case 2:
      return {max(a.tile, b.tile), std::max(a.bound, b.bound), a.exact && b.exact};
    case 3:
      return {min(a.tile, b.tile), std::max(a.bound, b.bound), a.exact && b.exact};
    case 4:
      return {a.tile / (abs(b.tile) + 1), a.bound};
    case 5:
      return {rescale(bounded(a), bounded(b)), kTame * kTame};
    default:
      return {bounded(a) * bounded(b), kTame * kTame};
  }
}

Real Expressions::reduction(const Axes& axes, int depth) {
  Axes wide = axes;
  wide.push_back(c_.of(reduced_));
  const bool twice = std::ranges::any_of(axes, [&](const Axis& a) { return a.id() == wide.back().id(); });
  if (twice || lanes(wide) > kMostLanes) return real(axes, depth - 1);
  const Real x = real(wide, depth - 1);
  const Axis& axis = wide.back();
  switch (c_.below(3)) {
    case 0:
      return {reduce_max(x.tile, axis), x.bound, x.exact};
    case 1:
      return {reduce_min(x.tile, axis), x.bound, x.exact};
    default:
      return {reduce_sum(bounded(x), axis), kTame * axis.info().extent};
  }
}

Real Expressions::real(const Axes& axes, int depth) {
  if (depth <= 0) return leaf(axes);
  switch (c_.below(8)) {
    case 1:
      return unary(real(axes, depth - 1));
    case 2:
    case 3: {
      const Real a = real(axes, depth - 1);
      const Real b = real(some_of(axes), depth - 1);
      return c_.chance(30) ? binary(b, a) : binary(a, b);
    }
    case 4: {
      const Tile chosen = condition(axes);
      const Real a = real(axes, depth - 1);
      const Real b = real(some_of(axes), depth - 1);
      const bool swaps = c_.chance(50);
      const Tile either = swaps ? where(chosen, b.tile, a.tile) : where(chosen, a.tile, b.tile);
      return {either, std::max(a.bound, b.bound), a.exact && b.exact};
    }
    case 5:
      if (!reduced_.empty()) return reduction(axes, depth);
      return unary(real(axes, depth - 1));
    case 6:
      if (axes.size() >= 2) {
        const Real a = real({axes.begin(), axes.begin() + 1}, depth - 1);
        const Real b = real({axes.begin() + 1, axes.end()}, depth - 1);
        return {outer(bounded(a), bounded(b)), kTame * kTame};
      }
      return binary(real(axes, depth - 1), loaded(axes));
    default:
      return leaf(axes);
  }
}

Real Expressions::with(const Real& result, const Axes& axes, int depth) {
  if (depth <= 0) return result;
  const Real x = c_.chance(50) ? unary(result) : result;
  if (c_.chance(40)) return x;
  const Real other = real(some_of(axes), depth - 1);
  return binary(x, other);
}

Tile Expressions::integer(const Axes& axes, int depth) {
  if (depth > 0 && c_.chance(60)) {
    const Tile a = integer(axes, depth - 1);
    switch (c_.below(7)) {
      case 0:
        return a + c_.below(5);
      case 1:
        return max(a, integer(some_of(axes), depth - 1));
      case 2:
        return min(a, integer(some_of(axes), depth - 1));
      case 3:
        return abs(a - integer(some_of(axes), depth - 1));
      case 4:
        return a / (1 + c_.below(5));
      case 5:
        return a % (1 + c_.below(5));
      default:
        return -a * 2;
    }
  }
  if (axes.empty() || c_.chance(40)) return cast(i64, load(c_.of({i64, i32, boolean}), axes));
  std::optional<Tile> sum;
  for (const Axis& axis : axes) {
    if (sum) {
      const Tile both = *sum + axis.index();
      sum.emplace(both);
    } else {
      sum.emplace(axis.index());
    }
  }
  return *sum;
}

Tile Expressions::condition(const Axes& axes) {
  const Axes own = axes.empty() ? axes : some_of(axes);
  switch (c_.below(5)) {
    case 1:
      return load(boolean, own);
    case 2: {  // exact: nothing that a pass may round in another way
      const Real x = loaded(own);
      return x.tile > 0.25;
    }
    case 3: {
      const Tile first = integer(own, 1);
      const Tile second = integer(own, 0);
      return c_.chance(50) ? first == second : first != second;
    }
    case 4: {
      const Tile first = condition(own);
      const Tile second = load(boolean, own);
      return c_.chance(50) ? first && second : (!first || second);
    }
    default: {
      if (own.empty()) return load(i64, {}) < 4;
      if (own.size() >= 2 && c_.chance(60)) return own[0].index() <= own[1].index() + (c_.below(40) - 20);
      const Tile index = own[0].index();
      const int bound = c_.below(64);
      return c_.chance(50) ? index < bound : index >= bound;
    }
  }
}

}  // namespace tessera::fuzz
