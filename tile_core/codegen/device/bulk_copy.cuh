// Copies of boxes of a tensor by the copy engine, TMA (PTX ISA, "cp.async.bulk.tensor"). Coordinates stand in the order of the
// map's dims, the contiguous one first.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};
__device__ __forceinline__ void prefetch_map(const TensorMap* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

/// Starts a copy of a box to shared memory; its bytes are counted by the mbarrier. Zeros outside of the tensor.
__device__ __forceinline__ void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(to), "l"(map), "r"(mbarrier), "r"(x0) : "memory");
}
__device__ __forceinline__ void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0, int x1) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to), "l"(map), "r"(mbarrier), "r"(x0), "r"(x1) : "memory");
}
__device__ __forceinline__ void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0, int x1, int x2) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to), "l"(map), "r"(mbarrier), "r"(x0), "r"(x1), "r"(x2) : "memory");
}
__device__ __forceinline__ void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0, int x1, int x2, int x3) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to), "l"(map), "r"(mbarrier), "r"(x0), "r"(x1), "r"(x2), "r"(x3) : "memory");
}
__device__ __forceinline__ void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0, int x1, int x2, int x3, int x4) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to), "l"(map), "r"(mbarrier), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
}

/// Starts a copy of a box from shared memory in this thread's open group. Elements outside of the tensor are dropped.
__device__ __forceinline__ void copy_out(const TensorMap* map, unsigned from, int x0) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%2}], [%1];" ::"l"(map), "r"(from), "r"(x0) : "memory");
}
__device__ __forceinline__ void copy_out(const TensorMap* map, unsigned from, int x0, int x1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(from), "r"(x0), "r"(x1) : "memory");
}
__device__ __forceinline__ void copy_out(const TensorMap* map, unsigned from, int x0, int x1, int x2) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from), "r"(x0), "r"(x1), "r"(x2) : "memory");
}
__device__ __forceinline__ void copy_out(const TensorMap* map, unsigned from, int x0, int x1, int x2, int x3) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map), "r"(from), "r"(x0), "r"(x1), "r"(x2), "r"(x3) : "memory");
}
__device__ __forceinline__ void copy_out(const TensorMap* map, unsigned from, int x0, int x1, int x2, int x3, int x4) {
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map), "r"(from), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
}
/// The same, but adds the box to the tensor's elements, of f32, each at once (PTX ISA, "cp.reduce.async.bulk.tensor").
__device__ __forceinline__ void accumulate_out(const TensorMap* map, unsigned from, int x0) {
  asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%2}], [%1];" ::"l"(map), "r"(from), "r"(x0) : "memory");
}
__device__ __forceinline__ void accumulate_out(const TensorMap* map, unsigned from, int x0, int x1) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(from), "r"(x0), "r"(x1) : "memory");
}
__device__ __forceinline__ void accumulate_out(const TensorMap* map, unsigned from, int x0, int x1, int x2) {
  asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from), "r"(x0), "r"(x1), "r"(x2) : "memory");
}
__device__ __forceinline__ void accumulate_out(const TensorMap* map, unsigned from, int x0, int x1, int x2, int x3) {
  asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map), "r"(from), "r"(x0), "r"(x1), "r"(x2), "r"(x3) : "memory");
}
__device__ __forceinline__ void accumulate_out(const TensorMap* map, unsigned from, int x0, int x1, int x2, int x3, int x4) {
  asm volatile("cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map), "r"(from), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
}
__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// All but the newest groups of copies out have read shared memory.
template <int Pending>
__device__ __forceinline__ void wait_stores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
/// What this thread has written to shared memory may be read by the copy engine and by dots, after a barrier.
__device__ __forceinline__ void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
