#include "tile_core/interpreter/arithmetic.h"

#include <cmath>
#include <limits>

#include "tile_core/base/error.h"

namespace tessera::interpreter {
namespace {

/// IEEE maximumNumber: a NaN gives way, and +0 is above -0.
double maximum(double a, double b) {
  if (std::isnan(a) || a < b) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a;
}

double minimum(double a, double b) {
  return -maximum(-a, -b);
}

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Rounds down.
std::int64_t quotient(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// Exact, as far as the dtype and a double go.
double of_integers(BinaryFn fn, DType dtype, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool lost = false;
  switch (fn) {
    case BinaryFn::add:
      lost = __builtin_add_overflow(a, b, &result);
      break;
    case BinaryFn::sub:
      lost = __builtin_sub_overflow(a, b, &result);
      break;
    case BinaryFn::mul:
      lost = __builtin_mul_overflow(a, b, &result);
      break;
    case BinaryFn::div:
      if (b == -1) return of_integers(BinaryFn::sub, dtype, 0, a);  // the lowest overflows
      if (b != 0) result = quotient(a, b);
      break;
    default:  // mod
      if (b != 0 && b != -1) result = a - quotient(a, b) * b;
  }
  auto value = static_cast<double>(result);
  lost = lost || !holds(dtype, value) || integer_of(value) != result;
  return lost ? kUnknown : value;
}

double of_floats(BinaryFn fn, double a, double b) {
  switch (fn) {
    case BinaryFn::add:
      return a + b;
    case BinaryFn::sub:
      return a - b;
    case BinaryFn::mul:
    case BinaryFn::rescale:
      return a * b;
    case BinaryFn::div:
      return a / b;
    default:
      throw InternalError::format("interpreter: {} of floats", name_of(fn));
  }
}

}  // namespace

double apply(UnaryFn fn, DType dtype, double a) {
  switch (fn) {
    case UnaryFn::neg:
      return is_float(dtype) ? -a : apply(BinaryFn::sub, dtype, 0, a);
    case UnaryFn::abs:
      return is_float(dtype) || a >= 0 ? std::fabs(a) : apply(BinaryFn::sub, dtype, 0, a);
    case UnaryFn::exp:
      return std::exp(a);
    case UnaryFn::exp2:
      return std::exp2(a);
    case UnaryFn::log:
      return std::log(a);
    case UnaryFn::log2:
      return std::log2(a);
    case UnaryFn::sqrt:
      return std::sqrt(a);
    case UnaryFn::rsqrt:
      return 1 / std::sqrt(a);
    case UnaryFn::tanh:
    case UnaryFn::fast_tanh:
      return std::tanh(a);
    case UnaryFn::erf:
      return std::erf(a);
    case UnaryFn::erfc:
      return std::erfc(a);
    case UnaryFn::logical_not:
      return a == 0 ? 1 : 0;
  }
  throw InternalError::format("interpreter: no such function {}", static_cast<int>(fn));
}

double apply(BinaryFn fn, DType dtype, double a, double b) {
  if (fn == BinaryFn::logical_and && (a == 0 || b == 0)) return 0;
  if (fn == BinaryFn::logical_or && (a == 1 || b == 1)) return 1;
  if (!is_float(dtype) && (std::isnan(a) || std::isnan(b))) return kUnknown;
  switch (fn) {
    case BinaryFn::add:
    case BinaryFn::sub:
    case BinaryFn::mul:
    case BinaryFn::rescale:
    case BinaryFn::div:
    case BinaryFn::mod:
      return is_float(dtype) ? of_floats(fn, a, b) : of_integers(fn, dtype, integer_of(a), integer_of(b));
    case BinaryFn::max:
      return maximum(a, b);
    case BinaryFn::min:
      return minimum(a, b);
    case BinaryFn::lt:
      return a < b ? 1 : 0;
    case BinaryFn::le:
      return a <= b ? 1 : 0;
    case BinaryFn::eq:
      return a == b ? 1 : 0;
    case BinaryFn::ne:
      return a != b ? 1 : 0;
    case BinaryFn::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case BinaryFn::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
  }
  throw InternalError::format("interpreter: no such function {}", static_cast<int>(fn));
}

double apply(ReduceFn fn, DType dtype, double a, double b) {
  switch (fn) {
    case ReduceFn::sum:
      return round_to(dtype, apply(BinaryFn::add, dtype, a, b));
    case ReduceFn::max:
      return apply(BinaryFn::max, dtype, a, b);
    case ReduceFn::min:
      return apply(BinaryFn::min, dtype, a, b);
  }
  throw InternalError::format("interpreter: no such reduction {}", static_cast<int>(fn));
}

double rounded(DType dtype, double value) {
  double result = round_to(dtype, value);
  const bool beyond = dtype == i64 && result == 0x1p63;
  return holds(dtype, result) && !beyond ? result : kUnknown;
}

}  // namespace tessera::interpreter
