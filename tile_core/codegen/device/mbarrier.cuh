// Barriers in shared memory that count arrivals and bytes (PTX ISA, "mbarrier"); addresses are of shared memory.
__device__ __forceinline__ void mbarrier_init(unsigned at, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals) : "memory");
}
/// Barriers that this thread has initialised may be used by the copy engine, and by threads after a barrier.
__device__ __forceinline__ void fence_mbarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Arrives where `counts` holds; no branch, since dots may be in flight.
__device__ __forceinline__ void mbarrier_arrive(unsigned at, bool counts) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p mbarrier.arrive.shared::cta.b64 _, [%0]; }" ::"r"(at), "r"(static_cast<unsigned>(counts)) : "memory");
}
/// Arrives, and has the phase wait for so many bytes of bulk copies.
__device__ __forceinline__ void mbarrier_arrive_expect(unsigned at, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}
/// Returns when the phase of this parity has ended; each attempt may sleep 10 ms.
__device__ __forceinline__ void mbarrier_wait(unsigned at, unsigned parity) {
  asm volatile(
      "{ .reg .pred ended;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1, 0x989680;\n"
      "@!ended bra again; }" ::"r"(at), "r"(parity) : "memory");
}
