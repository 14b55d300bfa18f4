#include "tile_core/base/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  int bytes;
};
constexpr std::array kRows = {Row{boolean, "boolean", 1}, Row{i32, "i32", 4},   Row{i64, "i64", 8},
                              Row{f16, "f16", 2},         Row{bf16, "bf16", 2}, Row{f32, "f32", 4}};

constexpr double kBeyondI64 = 0x1p63;  // the greatest i64 as a double, which rounds it up

const Row& row(DType dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

/// Rounds to `mantissa` explicit bits, exponents in [lowest, highest]; ties to even, overflow to infinity.
double round_float(double value, int mantissa, int lowest, int highest) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = std::max(std::ilogb(value), lowest);
  double step = std::ldexp(1.0, exponent - mantissa);
  double rounded = std::nearbyint(value / step) * step;
  double limit = std::ldexp(2.0 - std::ldexp(1.0, -mantissa), highest);
  if (std::abs(rounded) > limit) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded == 0 ? std::copysign(0.0, value) : rounded;
}

std::uint16_t half_bits(double value, int mantissa, int lowest) {
  int sign = std::signbit(value) ? 0x8000 : 0;
  int exponent_bits = 15 - mantissa;
  int all = ((1 << exponent_bits) - 1) << mantissa;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | all | (1 << (mantissa - 1)));
  value = std::abs(value);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | all);
  if (value < std::ldexp(1.0, lowest)) {
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(value, mantissa - lowest)));
  }
  int exponent = std::ilogb(value);
  int fraction = static_cast<int>(std::ldexp(value, mantissa - exponent)) - (1 << mantissa);
  return static_cast<std::uint16_t>(sign | ((exponent - lowest + 1) << mantissa) | fraction);
}

double half_value(std::uint16_t bits, int mantissa, int lowest) {
  int exponent_mask = (1 << (15 - mantissa)) - 1;
  int exponent = (bits >> mantissa) & exponent_mask;
  int fraction = bits & ((1 << mantissa) - 1);
  double magnitude = exponent == 0 ? std::ldexp(fraction, lowest - mantissa)
                                   : std::ldexp((1 << mantissa) + fraction, exponent - 1 + lowest - mantissa);
  if (exponent == exponent_mask) {
    magnitude =
        fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Rounds towards 0.
std::int64_t to_integer(DType dtype, double value) {
  if (!holds(dtype, std::trunc(value))) throw UserError::format("{} cannot hold {}", name_of(dtype), value);
  return integer_of(std::trunc(value));
}

double from_integer(std::int64_t value) {
  auto result = static_cast<double>(value);
  if (integer_of(result) != value)
    throw UserError::format("the i64 {} has more than 53 bits, which are all that can be reckoned with here",
                            value);
  return result;
}

template <typename T>
void put(void* memory, T value) {
  std::memcpy(memory, &value, sizeof value);
}

template <typename T>
T get(const void* memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

}  // namespace

int size_of(DType dtype) {
  return row(dtype).bytes;
}
bool is_float(DType dtype) {
  return dtype == f16 || dtype == bf16 || dtype == f32;
}
bool is_integer(DType dtype) {
  return dtype == i32 || dtype == i64;
}
std::string_view name_of(DType dtype) {
  return row(dtype).name;
}

DType dtype_from_name(std::string_view name) {
  for (const Row& candidate : kRows) {
    if (candidate.name == name) return candidate.dtype;
  }
  std::string names;
  for (const Row& known : kRows) names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  throw UserError::format("expected a dtype, one of {}, but got '{}'", names, name);
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(value));
    case DType::f16:
      return round_float(value, 10, -14, 15);
    case DType::bf16:
      return round_float(value, 7, -126, 127);
    case DType::boolean:
      return value != 0 ? 1 : 0;
    case DType::i32:
    case DType::i64:
      return std::trunc(value);
  }
  throw InternalError::format("round_to: no such dtype {}", static_cast<int>(dtype));
}

float tf32_of(float value) {
  constexpr std::uint32_t kDropped = 13;  // bits
  if (!std::isfinite(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value) + (1U << (kDropped - 1));
  return std::bit_cast<float>(bits >> kDropped << kDropped);
}

bool holds(DType dtype, double value) {
  switch (dtype) {
    case DType::boolean:
      return value == 0 || value == 1;
    case DType::i32:
      return std::trunc(value) == value && value >= -0x1p31 && value < 0x1p31;
    case DType::i64:
      return std::trunc(value) == value && value >= -0x1p63 && value <= kBeyondI64;
    default:
      return std::isnan(value) || round_to(dtype, value) == value;
  }
}

std::int64_t integer_of(double value) {
  return value == kBeyondI64 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(value);
}

void store_element(DType dtype, void* memory, double value) {
  switch (dtype) {
    case DType::f32:
      return put(memory, static_cast<float>(value));
    case DType::f16:
      return put(memory, half_bits(round_to(f16, value), 10, -14));
    case DType::bf16:
      return put(memory, half_bits(round_to(bf16, value), 7, -126));
    case DType::boolean:
      return put(memory, static_cast<std::uint8_t>(value != 0));
    case DType::i32:
      return put(memory, static_cast<std::int32_t>(to_integer(i32, value)));
    case DType::i64:
      return put(memory, to_integer(i64, value));
  }
}

double load_element(DType dtype, const void* memory) {
  switch (dtype) {
    case DType::f32:
      return get<float>(memory);
    case DType::f16:
      return half_value(get<std::uint16_t>(memory), 10, -14);
    case DType::bf16:
      return half_value(get<std::uint16_t>(memory), 7, -126);
    case DType::boolean:
      return get<std::uint8_t>(memory) != 0 ? 1 : 0;
    case DType::i32:
      return get<std::int32_t>(memory);
    case DType::i64:
      return from_integer(get<std::int64_t>(memory));
  }
  throw InternalError::format("load_element: no such dtype {}", static_cast<int>(dtype));
}

}  // namespace tessera
