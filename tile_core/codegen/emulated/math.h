// Twin of device/math.cuh. Functions that a device approximates are right to half an ulp here: computed in
// double, rounded once, as the interpreter does.
inline float infinity() {
  return emulated::bits_as<float>(0x7f800000u);
}
inline float not_a_number() {
  return emulated::bits_as<float>(0x7fc00000u);
}

inline float math_abs(float x) {
  return std::fabs(x);
}
template <typename Int>
Int math_abs(Int x) {
  return x < 0 ? -x : x;
}
inline float math_exp(float x) {
  return static_cast<float>(std::exp(static_cast<double>(x)));
}
inline float math_log(float x) {
  return static_cast<float>(std::log(static_cast<double>(x)));
}
inline float math_log2(float x) {
  return static_cast<float>(std::log2(static_cast<double>(x)));
}
inline float math_sqrt(float x) {
  return std::sqrt(x);
}
inline float math_rsqrt(float x) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(x)));
}
inline float math_fast_tanh(float x) {
  return static_cast<float>(std::tanh(static_cast<double>(x)));
}
inline float math_tanh(float x) {
  return static_cast<float>(std::tanh(static_cast<double>(x)));
}
inline float math_erf(float x) {
  return static_cast<float>(std::erf(static_cast<double>(x)));
}
inline float math_erfc(float x) {
  return static_cast<float>(std::erfc(static_cast<double>(x)));
}
/// Subnormal operands and results are 0 (PTX ISA, "Floating Point Instructions: ex2").
inline float math_exp2(float x) {
  constexpr float kSmallestNormal = 0x1p-126f;
  const float y = static_cast<float>(std::exp2(static_cast<double>(x)));
  return y < kSmallestNormal ? 0.0f : y;
}
inline float math_fma(float a, float b, float c) {
  return std::fma(a, b, c);
}

/// PTX ISA, "cvt.rna.tf32.f32": to nearest, ties away from zero; NaN is 0x7fffffff.
inline unsigned tf32_word(float x) {
  const unsigned bits = emulated::bits_as<unsigned>(x), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fffffffu;
  return (bits & 0x80000000u) | (magnitude + 0x1000u) / 0x2000u * 0x2000u;
}
inline float tf32_of(float x) {
  return emulated::bits_as<float>(tf32_word(x) & 0xffffe000u);
}
inline float fma_tf32(float a, float b, float c) {
  return std::fma(tf32_of(a), tf32_of(b), c);
}
inline float fma_tf32x3(float a, float b, float c) {
  const float x = tf32_of(a), y = tf32_of(b);
  return std::fma(x, y, std::fma(x, tf32_of(b - y), std::fma(tf32_of(a - x), y, c)));
}

// A NaN operand gives the other one, and +0 is above -0 (PTX ISA, "Floating Point Instructions: max").
inline float math_max(float a, float b) {
  if (std::isnan(a) || a < b) return b;
  return a == b && std::signbit(a) ? b : a;
}
inline float math_min(float a, float b) {
  return -math_max(-a, -b);
}
template <typename Int>
Int math_max(Int a, Int b) {
  return a < b ? b : a;
}
template <typename Int>
Int math_min(Int a, Int b) {
  return b < a ? b : a;
}
inline float math_add(float a, float b) {
  return a + b;
}
template <typename Int>
Int math_add(Int a, Int b) {
  return a + b;
}

/// Rounds down, as index arithmetic needs; 0 where b is.
template <typename Int>
Int math_div(Int a, Int b) {
  if (b == 0) return 0;
  const Int q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
template <typename Int>
Int math_mod(Int a, Int b) {
  return b == 0 ? 0 : a - math_div(a, b) * b;
}

inline int64 as_bound(int64 x) {
  constexpr int64 kFar = int64(1) << 62;
  return math_max(math_min(x, kFar), -kFar);
}
/// How many of the indices first, first + 1, ... are below the bound, at most 2^30: more than a tile has.
inline int steps_below(int64 bound, int64 first) {
  using Unsigned = unsigned long long;  // as large as any distance
  return bound <= first ? 0
                        : static_cast<int>(math_min(Unsigned(bound) - Unsigned(first), Unsigned(1) << 30));
}
/// The same with the bound included.
inline int steps_up_to(int64 bound, int64 first) {
  return bound < first ? 0 : steps_below(bound, first) + 1;
}
