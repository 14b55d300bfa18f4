// Dots on the tensor cores by the 128 threads of a warpgroup (PTX ISA, "wgmma.mma_async"). They run while the threads go on:
// between its issue and the wait that covers its group, nothing may touch a dot's registers.
__device__ __forceinline__ void fence_dots() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit_dots() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wait_dots() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// Ties a tile to this place in the program: the compiler moves no access to its registers across.
template <int N>
__device__ __forceinline__ void pin(float (&tile)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(tile[i])::"memory");
}
template <int N, typename T>
__device__ __forceinline__ void pin(T (&tile)[N]) {
#pragma unroll
  for (int i = 0; i < N; i += 2) {
    unsigned word = word_of(tile + i);
    asm volatile("" : "+r"(word)::"memory");
    set_word(tile + i, word);
  }
}

// Gives a tile any value: what it held before need not be kept until the first write.
__device__ __forceinline__ void discard(float& x) { asm volatile("" : "=f"(x)); }
__device__ __forceinline__ void discard(int& x) { asm volatile("" : "=r"(x)); }
__device__ __forceinline__ void discard(int64& x) { asm volatile("" : "=l"(x)); }
__device__ __forceinline__ void discard(bool& x) { x = false; }
template <typename T>
__device__ __forceinline__ void discard(T& sixteen_bits) { asm volatile("" : "=h"(sixteen_bits.bits)); }
template <int N, typename T>
__device__ __forceinline__ void discard(T (&tile)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) discard(tile[i]);
}

/// Describes an operand in shared memory (PTX ISA, "wgmma: Matrix Descriptor Format"). High is a constant.
template <unsigned High>
__device__ __forceinline__ unsigned long long descriptor(unsigned low) {
  unsigned long long both;
  asm("mov.b64 %0, {%1, %2};" : "=l"(both) : "r"(low), "r"(High));
  return both;
}

// The two macros declare a function for one shape: d += a * b, or d = a * b where `accumulate` is 0, with a of 64 x 16 and b
// of 16 x n elements. The emitter spells out the operands: d's n / 2 registers in `numbers` and, as D(i), at the end; the
// numbers i_... of those that follow. A major is 1 where the free axis of its operand is contiguous.
#define D(i) "+f"(d[i])
#define TESSERA_DOT_OF_SLOTS(name, n, type, numbers, i_a, i_b, i_added, major_a, major_b, ...)                               \
  __device__ __forceinline__ void name(float* d, unsigned long long at_a, unsigned long long at_b, int accumulate) {         \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #i_added ", 0;\n"                                                        \
                 "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type " {" numbers "}, %" #i_a ", %" #i_b       \
                 ", p, 1, 1, " #major_a ", " #major_b "; }"                                                                  \
                 : __VA_ARGS__                                                                                               \
                 : "l"(at_a), "l"(at_b), "r"(accumulate));                                                                   \
  }
#define TESSERA_DOT_OF_REGISTERS(name, n, type, numbers, i_a0, i_a1, i_a2, i_a3, i_b, i_added, major_b, ...)                 \
  __device__ __forceinline__ void name(float* d, const type* part, unsigned long long at_b, int accumulate) {                \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #i_added ", 0;\n"                                                        \
                 "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type " {" numbers "}, {%" #i_a0 ", %" #i_a1    \
                 ", %" #i_a2 ", %" #i_a3 "}, %" #i_b ", p, 1, 1, " #major_b "; }"                                            \
                 : __VA_ARGS__                                                                                               \
                 : "r"(word_of(part)), "r"(word_of(part + 2)), "r"(word_of(part + 4)), "r"(word_of(part + 6)), "l"(at_b),    \
                   "r"(accumulate));                                                                                         \
  }
