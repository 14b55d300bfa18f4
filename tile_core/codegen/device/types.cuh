// Element types and their conversions; no header is needed to compile this under NVRTC.
using int64 = long long;
struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};

/// The value in a type that C++ can convert.
template <typename T>
__device__ __forceinline__ T widened(T x) {
  return x;
}
__device__ __forceinline__ float widened(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ __forceinline__ float widened(bf16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }

template <typename To>
struct Converter {
  template <typename From>
  static __device__ __forceinline__ To from(From x) {
    return static_cast<To>(widened(x));
  }
};
template <>
struct Converter<f16> {
  static __device__ __forceinline__ f16 from(float x) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
  static __device__ __forceinline__ f16 from(bf16 x) { return from(widened(x)); }
  static __device__ __forceinline__ f16 from(f16 x) { return x; }
};
template <>
struct Converter<bf16> {
  static __device__ __forceinline__ bf16 from(float x) {
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
  static __device__ __forceinline__ bf16 from(f16 x) { return from(widened(x)); }
  static __device__ __forceinline__ bf16 from(bf16 x) { return x; }
};

/// Rounds to nearest even; towards zero where To is an integer.
template <typename To, typename From>
__device__ __forceinline__ To convert(From x) {
  return Converter<To>::from(x);
}

/// Two neighbours of 16 bits as one register, the first in its low half.
template <typename T>
__device__ __forceinline__ unsigned word_of(const T* pair) {
  return static_cast<unsigned>(pair[0].bits) | static_cast<unsigned>(pair[1].bits) << 16;
}
template <typename T>
__device__ __forceinline__ void set_word(T* pair, unsigned word) {
  pair[0].bits = static_cast<unsigned short>(word);
  pair[1].bits = static_cast<unsigned short>(word >> 16);
}

/// Converts two neighbours at once.
__device__ __forceinline__ void convert_pair(f16* to, float low, float high) {
  unsigned word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  set_word(to, word);
}
__device__ __forceinline__ void convert_pair(bf16* to, float low, float high) {
  unsigned word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  set_word(to, word);
}
