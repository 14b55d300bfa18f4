#include "tile_core/dsl/online_softmax.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "tile_core/base/error.h"
#include "tile_core/dsl/math.h"
#include "tile_core/dsl/typing.h"
#include "tile_core/ir/print.h"

namespace tessera::dsl {
namespace {

/// Powers of two that a score may outgrow a lazy maximum by: f16 holds weights up to 2^15.
constexpr double kSlack = 8;

/// scale * log2(e), bounded from below so that -inf times it is -inf.
Tile scale_of_exp2(const Operand& scale, Loc loc) {
  if (!is_float(scale.type().dtype) || !scale.type().axes.empty()) {
    throw UserError(diagnostic("the scale of a softmax is one number for all rows", loc,
                               "scale: " + to_text(scale.tracer()->program, scale.type()),
                               "write p.scalar(\"scale\", f32), or multiply the scores"));
  }
  constexpr double kSmallest = std::numeric_limits<float>::min();
  Tile scaled = binary(BinaryFn::mul, scale, {std::numbers::log2e, loc});
  return max({scaled, loc}, {kSmallest, loc});
}

}  // namespace

OnlineSoftmax::OnlineSoftmax(Builder& builder, const std::vector<Axis>& rows, Maximum maximum, Loc loc)
    : maximum_(maximum),
      top_(builder.full(f32, rows, -inf, loc)),
      total_(builder.zeros(f32, rows, loc)),
      keep_(builder.zeros(f32, rows, loc)) {}

OnlineSoftmax::OnlineSoftmax(Builder& builder, const std::vector<Axis>& rows, const Tile& scale,
                             Maximum maximum, Loc loc)
    : OnlineSoftmax(builder, rows, maximum, loc) {
  scale_.emplace(scale_of_exp2(scale, loc));
}

Tile OnlineSoftmax::scaled(const Operand& x, Loc loc) const {
  return scale_ ? binary(BinaryFn::mul, x, {*scale_, loc}) : cast(f32, x);
}

Tile OnlineSoftmax::exponential(const Operand& difference, Loc loc) const {
  if (scale_) return exp2(difference);
  return exp2({binary(BinaryFn::mul, difference, {std::numbers::log2e, loc}), loc});
}

Tile OnlineSoftmax::shift(Loc loc) const {
  Operand top(top_, loc);
  return where({binary(BinaryFn::eq, top, {-inf, loc}), loc}, {0, loc}, top);
}

Tile OnlineSoftmax::risen(const Tile& largest, Loc loc) const {
  Operand before(top_, loc), now(largest, loc);
  if (maximum_ == Maximum::exact) return max(before, now);
  const double slack = scale_ ? kSlack : kSlack * std::numbers::ln2;
  return where({Operand(now - slack, loc) > before, loc}, now, before);
}

void OnlineSoftmax::check_scores(const Operand& scores, AxisId axis, Loc loc) const {
  const Tracer& tracer = top_.tracer();
  const Type& rows = tracer.program.type(top_.id(loc));
  const std::string help =
      "scores are floats over the rows that the OnlineSoftmax was made with and the axis";
  std::string text = fmt::format("rows: {}", to_text(tracer.program, rows));
  if (axis != AxisId::none) text += fmt::format("  axis: {}", tracer.program.axis(axis).name);
  if (scores.is_number())
    throw UserError(diagnostic("the scores of a softmax are a number", loc, text, help));
  check_same_program(tracer, *scores.tracer(), loc);
  const Type& type = scores.type();
  std::vector<AxisId> wanted = rows.axes;
  if (axis != AxisId::none) wanted.push_back(axis);
  const bool has_rows = std::all_of(wanted.begin(), wanted.end(), [&](AxisId id) { return type.has(id); });
  if (is_float(type.dtype) && has_rows && (axis == AxisId::none || type.axes.size() == wanted.size())) return;
  throw UserError(diagnostic("the scores of a softmax do not fit its rows", loc,
                             fmt::format("scores: {}  {}", to_text(tracer.program, type), text), help));
}

Tile OnlineSoftmax::relative(const Operand& scores, Loc loc) const {
  return exponential({binary(BinaryFn::sub, {scaled(scores, loc), loc}, {shift(loc), loc}), loc}, loc);
}

Tile OnlineSoftmax::weights_so_far(const Operand& scores, Loc loc) const {
  check_scores(scores, AxisId::none, loc);
  if (!has_scores_) {
    throw UserError(diagnostic("weights_so_far() of a softmax that has seen no scores", loc, "",
                               "weights(scores, axis) takes them into account: it comes first"));
  }
  return relative(scores, loc);
}

Tile OnlineSoftmax::weights(const Operand& scores, const Axis& axis, Loc loc) {
  check_same_program(top_.tracer(), axis.tracer(), loc);
  check_scores(scores, axis.id(), loc);
  has_scores_ = true;
  Operand before(top_, loc);
  // The scale is positive: it may come after the maximum, once a row.
  top_ = Operand(risen(scaled({reduce_max(scores, axis, loc), loc}, loc), loc), loc);
  keep_ = Operand(exponential({binary(BinaryFn::sub, before, {shift(loc), loc}), loc}, loc), loc);
  Tile weights = relative(scores, loc);
  Operand kept(binary(BinaryFn::mul, {total_, loc}, {keep_, loc}), loc);
  total_ = Operand(binary(BinaryFn::add, kept, {reduce_sum({weights, loc}, axis, loc), loc}), loc);
  return weights;
}

Tile OnlineSoftmax::inverse_total(Loc loc) const {
  Operand total(total_, loc);
  Tile inverse = binary(BinaryFn::div, {1, loc}, total);
  return where({binary(BinaryFn::eq, total, {0, loc}), loc}, {0, loc}, {inverse, loc});
}

Tile OnlineSoftmax::logsumexp(Loc loc) const {
  Tile log_total = log({total_, loc});
  Tile top(&top_.tracer(), top_.id());
  Tile natural = scale_ ? binary(BinaryFn::mul, {top, loc}, {std::numbers::ln2, loc}) : top;
  return binary(BinaryFn::add, {natural, loc}, {log_total, loc});
}

}  // namespace tessera::dsl
