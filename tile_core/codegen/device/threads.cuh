// Threads of a block.
__device__ __forceinline__ int thread_index() { return static_cast<int>(threadIdx.x); }
__device__ __forceinline__ int64 block_index() { return static_cast<int64>(blockIdx.x); }
__device__ __forceinline__ int64 block_count() { return static_cast<int64>(gridDim.x); }
__device__ __forceinline__ void barrier() { __syncthreads(); }

/// The value of the lane whose number differs in the bits of `mask`.
template <typename T>
__device__ __forceinline__ T shuffle_xor(T x, int mask) {
  return __shfl_xor_sync(0xffffffffu, x, mask);
}

/// Lanes 2 i and 2 i + 1 have neighbouring pairs of two blocks: now the first has four elements of the first block, the
/// second four of the second.
template <typename T>
__device__ __forceinline__ void exchange_pairs(T* four, const T* first, const T* second) {
  const bool is_second = thread_index() % 2 != 0;
  const unsigned one = word_of(first), other = word_of(second);
  const unsigned kept = is_second ? other : one, given = is_second ? one : other;
  const unsigned taken = shuffle_xor(given, 1);
  set_word(four, is_second ? taken : kept);
  set_word(four + 2, is_second ? kept : taken);
}

/// Whether `x` holds in any lane of the warp.
__device__ __forceinline__ bool any_of_warp(bool x) { return __any_sync(0xffffffffu, x) != 0; }

#define TESSERA_KERNEL(name, threads, blocks) \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ Parameters p)
// Atoms of a swizzle repeat after 1024 bytes.
#define TESSERA_SHARED(name) extern __shared__ __align__(1024) unsigned char name[]
