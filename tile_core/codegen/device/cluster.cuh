// Blocks of a cluster (PTX ISA, "Cooperative Thread Arrays" and "mbarrier"): they run at the same time, and reach each other's
// shared memory.
#define TESSERA_CLUSTER_KERNEL(name, threads, blocks, cluster)                            \
  extern "C" __global__ void __cluster_dims__(cluster, 1, 1) __launch_bounds__(threads, blocks) \
      name(const __grid_constant__ Parameters p)

// From the number of the block, which the compiler reads again where registers are short.
template <int Blocks>
__device__ __forceinline__ int64 cluster_index() { return static_cast<int64>(blockIdx.x / Blocks); }
template <int Blocks>
__device__ __forceinline__ int64 cluster_count() { return static_cast<int64>(gridDim.x / Blocks); }
template <int Blocks>
__device__ __forceinline__ int64 cluster_rank() { return static_cast<int64>(blockIdx.x % Blocks); }
/// Meets all threads of the cluster.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/// Where a descriptor finds an address of this block's shared memory: its bits above 18 name the block.
__device__ __forceinline__ unsigned within_block(unsigned address) { return address & 0x3ffff; }

/// Where the block of a rank has what this one has at an address.
__device__ __forceinline__ unsigned address_in_block(unsigned address, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
/// Arrives, where `counts` holds, at an mbarrier of any block of the cluster. Without .release.cluster, which would fence the
/// whole GPU: nothing that this thread has written is read there.
__device__ __forceinline__ void mbarrier_arrive_there(unsigned at, bool counts) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p mbarrier.arrive.shared::cluster.b64 _, [%0]; }" ::"r"(at), "r"(static_cast<unsigned>(counts)) : "memory");
}

/// Starts a copy of a box to the same place of every block whose rank is a bit of `ranks`; its bytes are counted by the
/// mbarrier of each.
__device__ __forceinline__ void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%4}], [%2], %3;" ::"r"(to), "l"(map), "r"(mbarrier), "h"(ranks), "r"(x0) : "memory");
}
__device__ __forceinline__ void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0, int x1) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(to), "l"(map), "r"(mbarrier), "h"(ranks), "r"(x0), "r"(x1) : "memory");
}
__device__ __forceinline__ void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0, int x1, int x2) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%4, %5, %6}], [%2], %3;" ::"r"(to), "l"(map), "r"(mbarrier), "h"(ranks), "r"(x0), "r"(x1), "r"(x2) : "memory");
}
__device__ __forceinline__ void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0, int x1, int x2, int x3) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%4, %5, %6, %7}], [%2], %3;" ::"r"(to), "l"(map), "r"(mbarrier), "h"(ranks), "r"(x0), "r"(x1), "r"(x2), "r"(x3) : "memory");
}
__device__ __forceinline__ void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0, int x1, int x2, int x3, int x4) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(to), "l"(map), "r"(mbarrier), "h"(ranks), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
}
