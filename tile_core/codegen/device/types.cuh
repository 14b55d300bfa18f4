// Element types and their conversions; no header is needed to compile this under NVRTC.
using int64 = long long;
struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};

template <typename To, typename From>
__device__ __forceinline__ To convert(From x) {
  return static_cast<To>(x);
}
template <>
__device__ __forceinline__ float convert<float, f16>(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
template <>
__device__ __forceinline__ float convert<float, bf16>(bf16 x) {
  return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}
template <>
__device__ __forceinline__ f16 convert<f16, float>(float x) {
  f16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
template <>
__device__ __forceinline__ bf16 convert<bf16, float>(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
template <>
__device__ __forceinline__ f16 convert<f16, bf16>(bf16 x) {
  return convert<f16>(convert<float>(x));
}
template <>
__device__ __forceinline__ bf16 convert<bf16, f16>(f16 x) {
  return convert<bf16>(convert<float>(x));
}
template <>
__device__ __forceinline__ f16 convert<f16, int64>(int64 x) {
  return convert<f16>(static_cast<float>(x));
}
template <>
__device__ __forceinline__ bf16 convert<bf16, int64>(int64 x) {
  return convert<bf16>(static_cast<float>(x));
}
template <>
__device__ __forceinline__ f16 convert<f16, f16>(f16 x) {
  return x;
}
template <>
__device__ __forceinline__ bf16 convert<bf16, bf16>(bf16 x) {
  return x;
}
