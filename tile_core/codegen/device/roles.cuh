// Warps of a block that run programs of their own.
/// The value of lane 0, known to be the same in all lanes.
__device__ __forceinline__ int uniform(int x) { return __shfl_sync(0xffffffffu, x, 0); }
__device__ __forceinline__ int64 uniform(int64 x) { return __shfl_sync(0xffffffffu, x, 0); }
/// True in one lane of the warp, the same at every call.
__device__ __forceinline__ bool elect() {
  unsigned chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
  return chosen != 0;
}
/// What is made from `x` after this is made after this.
__device__ __forceinline__ void pin(int& x) { asm volatile("" : "+r"(x)); }
__device__ __forceinline__ void warp_barrier() { __syncwarp(); }

/// Sets how many registers a thread of this warpgroup has: fewer than before, or more.
template <int Registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Meets the other threads at barrier First + which, where which < Count; Threads are those that meet. The number of a
/// barrier is an immediate: with one in a register the kernel would claim all 16.
template <int First, int Count, int Threads>
__device__ __forceinline__ void meet(int which) {
  if constexpr (Count == 1) {
    asm volatile("bar.sync %0, %1;" ::"n"(First), "n"(Threads) : "memory");
  } else if (which == 0) {
    meet<First, 1, Threads>(0);
  } else {
    meet<First + 1, Count - 1, Threads>(which - 1);
  }
}
/// The same without waiting for the others.
template <int First, int Count, int Threads>
__device__ __forceinline__ void arrive(int which) {
  if constexpr (Count == 1) {
    asm volatile("bar.arrive %0, %1;" ::"n"(First), "n"(Threads) : "memory");
  } else if (which == 0) {
    arrive<First, 1, Threads>(0);
  } else {
    arrive<First + 1, Count - 1, Threads>(which - 1);
  }
}
