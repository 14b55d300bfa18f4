#pragma once
#include <limits>

#include "tile_core/dsl/builder.h"

namespace tessera::dsl {

inline constexpr double inf = std::numeric_limits<double>::infinity();

Tile exp(const Operand& x);
Tile exp2(const Operand& x);
Tile log(const Operand& x);
Tile log2(const Operand& x);
Tile sqrt(const Operand& x);
Tile rsqrt(const Operand& x);
Tile tanh(const Operand& x);
Tile erf(const Operand& x);
Tile erfc(const Operand& x);
Tile abs(const Operand& x);
Tile max(const Operand& a, const Operand& b);
Tile min(const Operand& a, const Operand& b);

/// x * factor of f32, for factors of which nearly all are 1: where a warp's are, it does no work.
Tile rescale(const Operand& x, const Operand& factor);
/// a where the condition holds, else b.
Tile where(const Operand& condition, const Operand& a, const Operand& b);
/// Scores for a softmax along `axis`: -inf where the condition does not hold. The axis' loop visits only the
/// tiles between the first and the last index for which the condition can hold, as far as comparisons of
/// indices say: `mask(s, j.index() <= i.index() && i.index() - j.index() < 128, j)`. So what the loop does
/// must not matter where it holds nowhere.
Tile mask(const Operand& scores, const Operand& condition, const Axis& axis, Loc loc = Loc::here());
/// Rounded to nearest even.
Tile cast(DType dtype, const Operand& x);

/// Over the valid lanes of an axis, in f32. The empty sum is 0, the empty maximum -inf.
Tile reduce_sum(const Operand& x, const Axis& axis, Loc loc = Loc::here());
Tile reduce_max(const Operand& x, const Axis& axis, Loc loc = Loc::here());
Tile reduce_min(const Operand& x, const Axis& axis, Loc loc = Loc::here());

/// The sum over the valid lanes of `axis` of a * b, in f32: f32[other axes of a, other axes of b]. Where
/// operands are f32, `precision` says what is made of them; the tensor cores take them in TF32 alone.
Tile dot(const Operand& a, const Operand& b, const Axis& axis, Precision precision = Precision::ieee,
         Loc loc = Loc::here());

/// The first tile with the axes of the second added.
Tile broadcast(const Operand& x, std::initializer_list<Axis> axes);
/// a * b for every pair of their elements.
Tile outer(const Operand& a, const Operand& b);

/// x * erfc(-x / sqrt 2) / 2, the exact GELU of Hendrycks and Gimpel, arXiv 1606.08415, in the form that
/// keeps its negative tail. `result` is the dtype that the value is cast to in the end: for bf16 a form of a
/// third of the instructions, at most 1e-5 off and 6e-4 of the value above -3.
Tile gelu(const Operand& x, DType result = f32);
/// The tanh approximation of the same paper as x * sigmoid(2 u): it neither overflows nor cancels; for bf16
/// through the hardware's tanh, as above.
Tile gelu_tanh(const Operand& x, DType result = f32);

}  // namespace tessera::dsl
