// Arithmetic that C++ operators do not give.
__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }
__device__ __forceinline__ float not_a_number() { return __int_as_float(0x7fc00000); }

__device__ __forceinline__ float math_abs(float x) { return fabsf(x); }
template <typename Int>
__device__ __forceinline__ Int math_abs(Int x) { return x < 0 ? -x : x; }
__device__ __forceinline__ float math_exp(float x) { return expf(x); }
__device__ __forceinline__ float math_log(float x) { return logf(x); }
__device__ __forceinline__ float math_log2(float x) { return log2f(x); }
__device__ __forceinline__ float math_sqrt(float x) { return sqrtf(x); }
__device__ __forceinline__ float math_rsqrt(float x) { return rsqrtf(x); }
__device__ __forceinline__ float math_tanh(float x) { return tanhf(x); }
__device__ __forceinline__ float math_erf(float x) { return erff(x); }
__device__ __forceinline__ float math_erfc(float x) { return erfcf(x); }
/// At most 2 ulp off; subnormal results are 0 (PTX ISA, ex2.approx.ftz.f32).
__device__ __forceinline__ float math_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// At most 1e-5 off where it was swept, on an H200; documented as 2^-11 (PTX ISA, tanh.approx.f32).
__device__ __forceinline__ float math_fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float math_fma(float a, float b, float c) { return fmaf(a, b, c); }

/// Rounded to TF32, to nearest, ties away from zero; dots ignore the lowest 13 bits (PTX ISA, cvt.rna.tf32.f32).
__device__ __forceinline__ unsigned tf32_word(float x) {
  unsigned word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(x));
  return word;
}
__device__ __forceinline__ float tf32_of(float x) { return __uint_as_float(tf32_word(x) & 0xffffe000u); }
/// a * b + c of operands in TF32, and of such that are two numbers in TF32 each, less the product of their rests.
__device__ __forceinline__ float fma_tf32(float a, float b, float c) { return fmaf(tf32_of(a), tf32_of(b), c); }
__device__ __forceinline__ float fma_tf32x3(float a, float b, float c) {
  const float x = tf32_of(a), y = tf32_of(b);
  return fmaf(x, y, fmaf(x, tf32_of(b - y), fmaf(tf32_of(a - x), y, c)));
}

// A NaN operand gives the other one.
__device__ __forceinline__ float math_max(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ float math_min(float a, float b) { return fminf(a, b); }
template <typename Int>
__device__ __forceinline__ Int math_max(Int a, Int b) { return a < b ? b : a; }
template <typename Int>
__device__ __forceinline__ Int math_min(Int a, Int b) { return b < a ? b : a; }
__device__ __forceinline__ float math_add(float a, float b) { return a + b; }
template <typename Int>
__device__ __forceinline__ Int math_add(Int a, Int b) { return a + b; }

/// Rounds down, as index arithmetic needs; b is not 0.
template <typename Int>
__device__ __forceinline__ Int math_div(Int a, Int b) {
  const Int q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
template <typename Int>
__device__ __forceinline__ Int math_mod(Int a, Int b) { return a - math_div(a, b) * b; }

/// A number of the call as a bound of indices: at the ends of int64, which stand for "none", differences would
/// wrap.
__device__ __forceinline__ int64 as_bound(int64 x) {
  constexpr int64 kFar = int64(1) << 62;
  return math_max(math_min(x, kFar), -kFar);
}
/// How many of the indices first, first + 1, ... are below the bound, at most 2^30: more than a tile has.
__device__ __forceinline__ int steps_below(int64 bound, int64 first) {
  return static_cast<int>(math_max(math_min(bound - first, int64(1) << 30), int64(0)));
}
/// The same with the bound included.
__device__ __forceinline__ int steps_up_to(int64 bound, int64 first) {
  return steps_below(bound + 1, first);
}
