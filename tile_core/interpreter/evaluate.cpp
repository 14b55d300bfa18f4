#include "tile_core/interpreter/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tile_core/base/error.h"
#include "tile_core/base/match.h"
#include "tile_core/interpreter/arithmetic.h"
#include "tile_core/interpreter/dot.h"

namespace tessera::interpreter {
namespace {

/// One instruction being evaluated.
class Evaluation {
 public:
  Evaluation(Run& run, const Inst& inst)
      : run_(run), inst_(inst), type_(run.type(inst.result())), out_(run.value(inst.result())) {
    out_.resize(run.elements(inst.result()));
  }

  void run() {
    match(
        inst_.op, [&](const Constant& o) { fill(round_to(type_.dtype, o.value)); },
        [&](const Scalar& o) { fill(round_to(type_.dtype, run_.scalars[index_of(o.scalar)])); },
        [&](const Size& o) { fill(static_cast<double>(run_.sizes[index_of(o.dim)])); },
        [&](const Index& o) { index(o); },
        [&](const Start& o) { fill(static_cast<double>(run_.start(o.axis, ValueId::none))); },
        [&](const End& o) { integer(run_.start(o.axis, o.start) + run_.program.axis(o.axis).extent); },
        [&](const BlockIndex&) { integer(run_.block()); }, [&](const BlockCount&) { integer(run_.blocks()); },
        [&](const ClusterIndex&) { integer(run_.block() / run_.cluster()); },
        [&](const ClusterCount&) { integer(run_.blocks() / run_.cluster()); },
        [&](const ClusterRank&) { integer(run_.block() % run_.cluster()); },
        [&](const Undefined&) { fill(std::numeric_limits<double>::quiet_NaN()); },
        [&](const Broadcast& o) { each([](double a) { return a; }, o.a); },
        [&](const Cast& o) { unary([](double a) { return a; }, o.a); },
        [&](const Convert& o) { each([](double a) { return a; }, o.a); },
        [&](const Unary& o) {
          unary([&, dtype = run_.type(o.a).dtype](double a) { return apply(o.fn, dtype, a); }, o.a);
        },
        [&](const Binary& o) { binary(o); },
        [&](const Fma& o) {
          each(
              [](double a, double b, double c) -> double {
                return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
              },
              o.a, o.b, o.c);
        },
        [&](const Select& o) {
          each([](double c, double a, double b) { return std::isnan(c) ? c
                                                         : c != 0      ? a
                                                                       : b; }, o.condition,
               o.a, o.b);
        },
        [&](const Reduce& o) { reduce(o); }, [&](const ReduceWarp& o) { reduce_warp(o); },
        [&](const Dot& o) {
          Elements start;
          if (o.accumulator != ValueId::none) start = run_.arranged(type_.axes, run_.tile(o.accumulator));
          out_ = dot(run_, type_.axes, run_.tile(o.a), run_.tile(o.b), o.axis,
                     {run_.type(o.a).dtype, run_.type(o.b).dtype, o.precision}, start);
        },
        [&](const Slice& o) { slice(o); },
        [&](const auto&) {
          throw InternalError::format("interpreter: an operation of {} is no arithmetic", run_.program.name);
        });
  }

 private:
  void integer(std::int64_t value) { fill(static_cast<double>(value)); }
  void fill(double value) { std::fill(out_.begin(), out_.end(), value); }

  const std::vector<int>& aligned(ValueId operand) {
    return run_.alignments.get(type_.axes, run_.type(operand).axes);
  }

  template <typename Function>
  void each(const Function& function, ValueId a) {
    const Elements& x = run_.value(a);
    const int* ix = aligned(a).data();
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = function(x[ix[i]]);
  }

  template <typename Function>
  void each(const Function& function, ValueId a, ValueId b) {
    const Elements& x = run_.value(a);
    const Elements& y = run_.value(b);
    const int* ix = aligned(a).data();
    const int* iy = aligned(b).data();
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = function(x[ix[i]], y[iy[i]]);
  }

  template <typename Function>
  void each(const Function& function, ValueId a, ValueId b, ValueId c) {
    const Elements& x = run_.value(a);
    const Elements& y = run_.value(b);
    const Elements& z = run_.value(c);
    const int* ix = aligned(a).data();
    const int* iy = aligned(b).data();
    const int* iz = aligned(c).data();
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = function(x[ix[i]], y[iy[i]], z[iz[i]]);
  }

  /// An integer or boolean that nobody knows stays one.
  template <typename Function>
  void unary(const Function& function, ValueId a) {
    bool real = is_float(run_.type(a).dtype);
    each([&](double x) { return !real && std::isnan(x) ? x : rounded(type_.dtype, function(x)); }, a);
  }

  void index(const Index& o) {
    auto first = static_cast<double>(run_.start(o.axis, o.start));
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = first + static_cast<double>(i);
  }

  void slice(const Slice& o) {
    const Elements& a = run_.value(o.a);
    std::vector<int> index = run_.alignments.get(type_.axes, run_.type(o.a).axes, {o.of, o.to, o.index});
    for (std::size_t i = 0; i < out_.size(); ++i) out_[i] = a[static_cast<std::size_t>(index[i])];
  }

  void binary(const Binary& o) {
    DType dtype = run_.type(o.a).dtype;
    each([&](double a, double b) { return apply(o.fn, dtype, a, b); }, o.a, o.b);
    if (is_float(type_.dtype)) {
      for (double& value : out_) value = round_to(type_.dtype, value);
    }
  }

  void reduce(const Reduce& o) {
    const std::vector<AxisId>& axes = run_.type(o.a).axes;
    const Elements& a = run_.value(o.a);
    const std::vector<int>& base = aligned(o.a);
    std::ptrdiff_t step = run_.alignments.stride(axes, o.axis);
    Lanes lanes = run_.seen(o.axis);
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const double* elements = a.data() + base[i];
      double sum = identity(o.fn, type_.dtype);
      for (int lane = lanes.first; lane < lanes.last; ++lane) {
        sum = apply(o.fn, type_.dtype, sum, elements[lane * step]);
      }
      out_[i] = sum;
    }
  }

  /// For every lane of an axis, which of the warps that the layout spreads along it holds that lane.
  std::vector<int> holders(const Layout& layout, AxisId axis) const {
    std::vector<int> warps(static_cast<std::size_t>(run_.program.axis(axis).extent));
    for (std::size_t lane = 0; lane < warps.size(); ++lane) {
      int digits = 1;
      for (const Repeat& r : layout.repeats()) {
        if (r.place != Place::warp || r.axis != axis) continue;
        warps[lane] += static_cast<int>(lane) / r.stride % r.count * digits;
        digits *= r.count;
      }
    }
    return warps;
  }

  void reduce_warp(const ReduceWarp& o) {
    const std::vector<AxisId>& axes = run_.type(o.a).axes;
    const Elements& a = run_.value(o.a);
    const std::vector<int>& base = aligned(o.a);
    std::vector<int> holder = holders(run_.type(o.a).layout, o.axis);
    std::ptrdiff_t step = run_.alignments.stride(axes, o.axis);
    int along_warps = run_.alignments.stride(type_.axes, o.warps);
    int warps = run_.program.axis(o.warps).extent;
    for (std::size_t i = 0; i < out_.size(); ++i) {
      int warp = static_cast<int>(i) / along_warps % warps;
      const double* elements = a.data() + base[i];
      double sum = identity(o.fn, type_.dtype);
      for (std::size_t lane = 0; lane < holder.size(); ++lane) {
        double element = elements[static_cast<std::ptrdiff_t>(lane) * step];
        if (holder[lane] == warp) sum = apply(o.fn, type_.dtype, sum, element);
      }
      out_[i] = sum;
    }
  }

  Run& run_;
  const Inst& inst_;
  const Type& type_;
  Elements& out_;
};

}  // namespace

void evaluate(Run& run, const Inst& inst) {
  Evaluation(run, inst).run();
}

}  // namespace tessera::interpreter
