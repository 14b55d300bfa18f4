// Twin of device/cluster.cuh.
template <int Blocks>
int64 cluster_index() {
  return block_index() / Blocks;
}
template <int Blocks>
int64 cluster_count() {
  return block_count() / Blocks;
}
template <int Blocks>
int64 cluster_rank() {
  return block_index() % Blocks;
}

/// PTX ISA, "barrier.cluster": what the threads did before it comes before what they do after.
inline void cluster_barrier(const emulated::Place& place = emulated::Place::current()) {
  emulated::Meeting& m = emulated::cluster.whole;
  emulated::publish(m.gathered);
  const unsigned round = m.rounds;
  ++m.arrived;
  emulated::end_cluster_round();
  emulated::wait_until("the others of the cluster", place, [&m, round] { return m.rounds != round; });
  emulated::join(emulated::self().clock, m.agreed);
}

/// PTX ISA, "wgmma: Matrix Descriptor Format": of an address 18 bits.
inline unsigned within_block(unsigned address) {
  return address & 0x3ffff;
}

/// PTX ISA, "mapa".
inline unsigned address_in_block(unsigned address, int rank) {
  return emulated::address_in(rank, address);
}
/// PTX ISA, "mbarrier.arrive".
inline void mbarrier_arrive_there(unsigned at, bool counts,
                                  const emulated::Place& place = emulated::Place::current()) {
  if (counts) emulated::arrive_at(at, 0, place);
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
