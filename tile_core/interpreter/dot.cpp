#include "tile_core/interpreter/dot.h"

#include <algorithm>
#include <cmath>

#include "tile_core/ir/dot_order.h"

namespace tessera::interpreter {
namespace {

/// Elements in the precision of a dot's operands: f16, bf16 and f32 all fit.
std::vector<float> as_floats(const Elements& elements) {
  return {elements.begin(), elements.end()};
}

/// An operand as its dot's precision has it.
struct Factors {
  std::vector<float> values;
  std::vector<float> rests;  // of tf32x3: what the values lack

  Factors(const Elements& elements, Precision precision) : values(as_floats(elements)) {
    if (precision == Precision::ieee) return;
    if (precision == Precision::tf32x3) rests = values;
    for (float& x : values) x = tf32_of(x);
    for (std::size_t i = 0; i < rests.size(); ++i) rests[i] = tf32_of(rests[i] - values[i]);
  }
};

/// One lane of a dot: sums[i] += x[ix[i]] * y[iy[i]], rounded once.
[[gnu::always_inline]] inline void add_products(const float* x, const int* ix, const float* y, const int* iy,
                                                std::vector<float>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = std::fmaf(x[ix[i]], y[iy[i]], sums[i]);
}

using AddProducts = void(const float*, const int*, const float*, const int*, std::vector<float>&);

void add_products_anywhere(const float* x, const int* ix, const float* y, const int* iy,
                           std::vector<float>& sums) {
  add_products(x, ix, y, iy, sums);
}

#ifdef __x86_64__
/// The same, with fmaf as an instruction instead of a call.
[[gnu::target("avx2,fma")]] void add_products_with_fma(const float* x, const int* ix, const float* y,
                                                       const int* iy, std::vector<float>& sums) {
  add_products(x, ix, y, iy, sums);
}

AddProducts* fastest_add_products() {
  bool fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return fma ? add_products_with_fma : add_products_anywhere;
}
#else
AddProducts* fastest_add_products() {
  return add_products_anywhere;
}
#endif

}  // namespace

Elements dot(Run& run, const std::vector<AxisId>& axes, const Tile& a, const Tile& b, AxisId axis,
             const DotKind& kind, const Elements& start) {
  const std::vector<int>& ia = run.alignments.get(axes, a.axes);
  const std::vector<int>& ib = run.alignments.get(axes, b.axes);
  const Factors x(a.elements, kind.precision), y(b.elements, kind.precision);
  std::vector<float> sums = as_floats(start);
  sums.resize(ia.size(), 0.0F);
  std::ptrdiff_t step_x = run.alignments.stride(a.axes, axis);
  std::ptrdiff_t step_y = run.alignments.stride(b.axes, axis);
  AddProducts* add = fastest_add_products();
  Lanes lanes = run.seen(axis);
  const auto add_lanes = [&](int first, int last, std::vector<float>& onto) {
    for (int lane = std::max(first, lanes.first); lane < std::min(last, lanes.last); ++lane) {
      const auto products = [&](const std::vector<float>& left, const std::vector<float>& right) {
        add(left.data() + lane * step_x, ia.data(), right.data() + lane * step_y, ib.data(), onto);
      };
      if (kind.precision == Precision::tf32x3) {
        products(x.rests, y.values);
        products(x.values, y.rests);
      }
      products(x.values, y.values);
    }
  };
  const int extent = run.program.axis(axis).extent;
  const int summands = dot_summands(kind.a, kind.b, kind.precision, extent);
  if (summands == 0) {
    add_lanes(0, extent, sums);
    return {sums.begin(), sums.end()};
  }
  for (int first = 0; first < extent; first += summands) {
    std::vector<float> part(sums.size(), 0.0F);
    add_lanes(first, first + summands, part);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
  }
  return {sums.begin(), sums.end()};
}

}  // namespace tessera::interpreter
