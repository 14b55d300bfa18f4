// Dots on the tensor cores by one warp: d += a * b of 16 x 16 and 16 x 8 elements, added up in fp32 (PTX ISA, "Matrix Fragments
// for mma.m16n8k16"). Two elements of 16 bits are a word.
template <typename T>
__device__ __forceinline__ void multiply(float* d, const unsigned* a, const unsigned* b);
template <>
__device__ __forceinline__ void multiply<f16>(float* d, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ __forceinline__ void multiply<bf16>(float* d, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Of f32, which they take in TF32: 16 x 8 and 8 x 8 elements (PTX ISA, "Matrix Fragments for mma.m16n8k8"). Paired: lane l has
// of the contracted axis elements 2 (l % 4) and the next, as accumulators have of their columns, instead of l % 4 and 4 further:
// the same sum.
template <bool Paired>
__device__ __forceinline__ void multiply_tf32(float* d, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// The same of operands with rests, the least products first.
template <bool Paired>
__device__ __forceinline__ void multiply_tf32x3(float* d, const unsigned* a, const unsigned* a_rests, const unsigned* b, const unsigned* b_rests) {
  multiply_tf32<Paired>(d, a_rests, b);
  multiply_tf32<Paired>(d, a, b_rests);
  multiply_tf32<Paired>(d, a, b);
}
/// Rounds the bits of f32 to TF32; the rests are what is left, rounded too.
template <int Count>
__device__ __forceinline__ void round_words(unsigned* words) {
#pragma unroll
  for (int i = 0; i < Count; ++i) words[i] = tf32_word(__uint_as_float(words[i]));
}
template <int Count>
__device__ __forceinline__ void split_words(unsigned* words, unsigned* rests) {
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const float x = __uint_as_float(words[i]), y = tf32_of(x);
    words[i] = __float_as_uint(y);
    rests[i] = tf32_word(x - y);
  }
}
/// The rows of a paired product from an accumulator's registers: two columns of a row, two of the row 8 below.
__device__ __forceinline__ void take_rows(unsigned* words, const float* from) {
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = __float_as_uint(from[i % 2 * 2 + i / 2]);
}
