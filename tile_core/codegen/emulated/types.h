// Twin of device/types.cuh. PTX ISA 9.0, "Data Movement and Conversion Instructions: cvt".
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <map>
#include <source_location>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <utility>
#include <vector>

using int64 = long long;
struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};

namespace emulated {

template <typename To, typename From>
To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To y;
  std::memcpy(&y, &x, sizeof y);
  return y;
}

/// Drops the lowest `count` bits of a magnitude, rounding to nearest even.
inline unsigned rounded_shift(unsigned magnitude, int count) {
  const unsigned half = 1u << (count - 1), rest = magnitude & (2 * half - 1), result = magnitude >> count;
  return result + (rest > half || (rest == half && (result & 1u) != 0) ? 1 : 0);
}

/// cvt.rn.f16.f32: subnormals are kept, overflow gives infinity, NaN is 0x7fff.
inline f16 half_of(float x) {
  const unsigned bits = bits_as<unsigned>(x), magnitude = bits & 0x7fffffffu;
  const unsigned sign = bits >> 16 & 0x8000u;
  unsigned result = 0;
  if (magnitude > 0x7f800000u) return {0x7fff};
  if (magnitude >= 0x47800000u) {  // 65536 and more; what lies below may still round up to infinity
    result = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // 2^-14, the smallest normal
    result = rounded_shift(magnitude - (112u << 23), 13);
  } else if (magnitude >= 0x33000000u) {  // 2^-25, half of the smallest subnormal
    const int exponent = static_cast<int>(magnitude >> 23);
    result = rounded_shift((magnitude & 0x7fffffu) | 0x800000u, 126 - exponent);
  }
  return {static_cast<unsigned short>(sign | result)};
}

/// cvt.f32.f16, exact.
inline float float_of(f16 x) {
  const int exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
  float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                  : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  if (exponent == 31) magnitude = bits_as<float>(fraction == 0 ? 0x7f800000u : 0x7fc00000u);
  return (x.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// cvt.rn.bf16.f32: subnormals are kept, NaN is 0x7fff.
inline bf16 bfloat_of(float x) {
  const unsigned bits = bits_as<unsigned>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  return {static_cast<unsigned short>(rounded_shift(bits, 16))};
}

/// cvt.rzi.s32.f32 and .s64: clamped to the range; NaN is 0, of 64 bits the lowest value.
template <typename To>
To integer_of(float x) {
  constexpr int kBits = 8 * sizeof(To);
  constexpr To kLowest = static_cast<To>(1ull << (kBits - 1));
  const float limit = std::ldexp(1.0f, kBits - 1);
  if (std::isnan(x)) return kBits == 64 ? kLowest : To{0};
  if (x >= limit) return static_cast<To>(~kLowest);
  return x < -limit ? kLowest : static_cast<To>(x);
}

}  // namespace emulated

template <typename T>
T widened(T x) {
  return x;
}
inline float widened(f16 x) {
  return emulated::float_of(x);
}
inline float widened(bf16 x) {
  return emulated::bits_as<float>(static_cast<unsigned>(x.bits) << 16);
}

template <typename To>
struct Converter {
  template <typename From>
  static To from(From x) {
    return static_cast<To>(widened(x));
  }
};
template <>
struct Converter<int> {
  static int from(float x) { return emulated::integer_of<int>(x); }
  static int from(f16 x) { return from(widened(x)); }
  static int from(bf16 x) { return from(widened(x)); }
  static int from(int64 x) { return static_cast<int>(x); }
  static int from(int x) { return x; }
  static int from(bool x) { return x ? 1 : 0; }
};
template <>
struct Converter<int64> {
  static int64 from(float x) { return emulated::integer_of<int64>(x); }
  static int64 from(f16 x) { return from(widened(x)); }
  static int64 from(bf16 x) { return from(widened(x)); }
  static int64 from(int64 x) { return x; }
  static int64 from(int x) { return x; }
  static int64 from(bool x) { return x ? 1 : 0; }
};
template <>
struct Converter<f16> {
  static f16 from(float x) { return emulated::half_of(x); }
  static f16 from(bf16 x) { return from(widened(x)); }
  static f16 from(f16 x) { return x; }
};
template <>
struct Converter<bf16> {
  static bf16 from(float x) { return emulated::bfloat_of(x); }
  static bf16 from(f16 x) { return from(widened(x)); }
  static bf16 from(bf16 x) { return x; }
};

template <typename To, typename From>
To convert(From x) {
  return Converter<To>::from(x);
}

template <typename T>
unsigned word_of(const T* pair) {
  return static_cast<unsigned>(pair[0].bits) | static_cast<unsigned>(pair[1].bits) << 16;
}
template <typename T>
void set_word(T* pair, unsigned word) {
  pair[0].bits = static_cast<unsigned short>(word);
  pair[1].bits = static_cast<unsigned short>(word >> 16);
}

/// cvt.rn.f16x2.f32 and .bf16x2: each half as the conversion of one.
template <typename T>
void convert_pair(T* to, float low, float high) {
  to[0] = convert<T>(low);
  to[1] = convert<T>(high);
}
