// The counter that blocks draw their tiles from.
#define TESSERA_COUNTERS(name, count) __device__ unsigned name[count]

/// How many have drawn before; the last of `draws` leaves 0 (PTX ISA, "atom": .inc). No memory is ordered by it.
__device__ __forceinline__ int64 draw_tile(unsigned* counter, unsigned draws) {
  unsigned before;
  asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(draws - 1));
  return static_cast<int64>(before);
}
