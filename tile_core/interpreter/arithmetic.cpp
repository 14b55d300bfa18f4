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

}  // namespace

double apply(UnaryFn fn, double a) {
  switch (fn) {
    case UnaryFn::neg:
      return -a;
    case UnaryFn::abs:
      return std::fabs(a);
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

double apply(BinaryFn fn, double a, double b) {
  switch (fn) {
    case BinaryFn::add:
      return a + b;
    case BinaryFn::sub:
      return a - b;
    case BinaryFn::mul:
      return a * b;
    case BinaryFn::div:
      return a / b;
    case BinaryFn::mod:
      return divide(fn, a, b);
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

double apply(ReduceFn fn, double a, double b) {
  switch (fn) {
    case ReduceFn::sum:
      return a + b;
    case ReduceFn::max:
      return maximum(a, b);
    case ReduceFn::min:
      return minimum(a, b);
  }
  throw InternalError::format("interpreter: no such reduction {}", static_cast<int>(fn));
}

double divide(BinaryFn fn, double a, double b) {
  auto dividend = static_cast<std::int64_t>(a);
  auto divisor = static_cast<std::int64_t>(b);
  if (divisor == 0) return 0;
  std::int64_t quotient = dividend / divisor;
  if (dividend % divisor != 0 && (dividend < 0) != (divisor < 0)) --quotient;
  return static_cast<double>(fn == BinaryFn::div ? quotient : dividend - quotient * divisor);
}

double identity(ReduceFn fn, DType dtype) {
  double infinity = is_float(dtype) ? std::numeric_limits<double>::infinity() : 0x1p62;
  switch (fn) {
    case ReduceFn::sum:
      return 0;
    case ReduceFn::max:
      return -infinity;
    case ReduceFn::min:
      return infinity;
  }
  throw InternalError::format("interpreter: no such reduction {}", static_cast<int>(fn));
}

}  // namespace tessera::interpreter
