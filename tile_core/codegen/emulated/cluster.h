// Twin of device/cluster.cuh.
inline int64 cluster_rank() {
  return emulated::block().rank;
}
inline int64 cluster_index() {
  return emulated::block().number / static_cast<int64>(emulated::cluster.blocks.size());
}
inline int64 cluster_count() {
  return emulated::block().count / static_cast<int64>(emulated::cluster.blocks.size());
}

/// PTX ISA, "barrier.cluster": all threads of the cluster, whose accesses before it come before those after.
inline void cluster_barrier(const emulated::Place& place = emulated::Place::current()) {
  using namespace emulated;
  attend(cluster.whole, block().threads * static_cast<int>(cluster.blocks.size()), true,
         "the others of the cluster", place);
}

/// PTX ISA, "wgmma: Matrix Descriptor Format": of an address 18 bits.
inline unsigned within_block(unsigned address) {
  return address & 0x3ffff;
}

/// PTX ISA, "mapa" and "mbarrier.arrive".
inline void mbarrier_arrive_in(unsigned at, int rank, bool counts,
                               const emulated::Place& place = emulated::Place::current()) {
  if (counts) emulated::arrive_at(emulated::address_in(rank, at), 0, place);
}

namespace emulated {

/// PTX ISA, "cp.async.bulk.tensor": to the same offset in each block, and the mbarrier of each.
inline void start_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned ranks,
                            std::initializer_list<int> first, const Place& place) {
  const auto blocks = static_cast<int>(cluster.blocks.size());
  if (ranks == 0 || ranks >> blocks != 0)
    fail(place, "copies to blocks %#x of a cluster of %d", ranks, blocks);
  for (int rank = 0; rank < blocks; ++rank) {
    if ((ranks >> rank & 1) != 0)
      start_copy(address_in(rank, to), map, address_in(rank, mbarrier), first, place);
  }
}

}  // namespace emulated

inline void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0,
                           const emulated::Place& place = emulated::Place::current()) {
  emulated::start_multicast(to, map, mbarrier, ranks, {x0}, place);
}
inline void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0,
                           int x1, const emulated::Place& place = emulated::Place::current()) {
  emulated::start_multicast(to, map, mbarrier, ranks, {x0, x1}, place);
}
inline void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0,
                           int x1, int x2, const emulated::Place& place = emulated::Place::current()) {
  emulated::start_multicast(to, map, mbarrier, ranks, {x0, x1, x2}, place);
}
inline void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0,
                           int x1, int x2, int x3,
                           const emulated::Place& place = emulated::Place::current()) {
  emulated::start_multicast(to, map, mbarrier, ranks, {x0, x1, x2, x3}, place);
}
inline void copy_multicast(unsigned to, const TensorMap* map, unsigned mbarrier, unsigned short ranks, int x0,
                           int x1, int x2, int x3, int x4,
                           const emulated::Place& place = emulated::Place::current()) {
  emulated::start_multicast(to, map, mbarrier, ranks, {x0, x1, x2, x3, x4}, place);
}
