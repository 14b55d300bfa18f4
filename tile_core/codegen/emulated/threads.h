// Twin of device/threads.cuh. PTX ISA, "Parallel Synchronization and Communication Instructions": barrier and
// shfl.sync.
inline int thread_index() {
  return emulated::block().running;
}
inline int64 block_index() {
  return emulated::block().number;
}
inline int64 block_count() {
  return emulated::block().count;
}

/// Of the whole block. All threads have to come to the same one.
inline void barrier(const emulated::Place& place = emulated::Place::current()) {
  using emulated::block;
  if (block().whole.arrived == 0) block().whole_at = place;
  if (place.line() != block().whole_at.line())
    emulated::fail(place, "waits at a barrier, but others wait at that of line %u",
                   static_cast<unsigned>(block().whole_at.line()));
  emulated::attend(block().whole, block().threads, true, "the barrier", place);
}

namespace emulated {

/// What every lane of the warp shows at this call, in order.
template <typename T>
std::array<T, kLanes> shown_by_lanes(T x, const Place& place) {
  Fiber& f = self();
  const unsigned mine = ++f.shuffles, which = mine % 2;
  static_assert(sizeof x <= sizeof f.shown[0]);
  std::memcpy(&f.shown[which], &x, sizeof x);
  const int first = block().running / kLanes * kLanes;
  wait_until("lanes of their warp", place, [mine, first] {
    for (int i = first; i < first + kLanes; ++i) {
      if (fiber(i).shuffles < mine) return false;
    }
    return true;
  });
  std::array<T, kLanes> all;
  for (int i = 0; i < kLanes; ++i)
    std::memcpy(&all[static_cast<std::size_t>(i)], &fiber(first + i).shown[which], sizeof x);
  return all;
}

}  // namespace emulated

template <typename T>
T shuffle_xor(T x, int mask, const emulated::Place& place = emulated::Place::current()) {
  const int lane = emulated::block().running % emulated::kLanes;
  return emulated::shown_by_lanes(x, place)[static_cast<std::size_t>(lane ^ mask)];
}

/// Lanes 2 i and 2 i + 1 have neighbouring pairs of two blocks: now the first has four elements of the first
/// block, the second four of the second.
template <typename T>
void exchange_pairs(T* four, const T* first, const T* second,
                    const emulated::Place& place = emulated::Place::current()) {
  const bool is_second = thread_index() % 2 != 0;
  const unsigned one = word_of(first), other = word_of(second);
  const unsigned kept = is_second ? other : one, given = is_second ? one : other;
  const unsigned taken = shuffle_xor(given, 1, place);
  set_word(four, is_second ? taken : kept);
  set_word(four + 2, is_second ? kept : taken);
}

/// PTX ISA, "vote.sync".
inline bool any_of_warp(bool x, const emulated::Place& place = emulated::Place::current()) {
  for (const bool shown : emulated::shown_by_lanes(x, place)) {
    if (shown) return true;
  }
  return false;
}

/// A function of the kernel's name that runs the whole grid on a host: `tensors` are the first byte and the
/// one after the last of each tensor; so many clusters run side by side. Returns what went wrong, or null.
#define TESSERA_CLUSTER_KERNEL(name, threads_per_block, blocks_per_multiprocessor, blocks_per_cluster) \
  static void name##_thread(const Parameters& p);                                                      \
  extern "C" const char* name(const void* parameters, int64 blocks, int64 shared_bytes,                \
                              const void* const* tensors, int64 tensor_count, int late,                \
                              int64 side_by_side) {                                                    \
    emulated::Block first;                                                                             \
    first.kernel = #name;                                                                              \
    first.body = [](const void* p) { name##_thread(*static_cast<const Parameters*>(p)); };             \
    first.parameters = parameters;                                                                     \
    first.threads = threads_per_block;                                                                 \
    first.tensors = tensors;                                                                           \
    first.tensor_count = tensor_count;                                                                 \
    first.late = late != 0;                                                                            \
    first.count = blocks;                                                                              \
    first.shared_bytes = static_cast<std::size_t>(shared_bytes);                                       \
    emulated::cluster = emulated::Cluster();                                                           \
    emulated::cluster.blocks.assign(blocks_per_cluster, first);                                        \
    return emulated::run_grid(side_by_side);                                                           \
  }                                                                                                    \
  static void name##_thread(const Parameters& p)
#define TESSERA_KERNEL(name, threads_per_block, blocks_per_multiprocessor) \
  TESSERA_CLUSTER_KERNEL(name, threads_per_block, blocks_per_multiprocessor, 1)
#define TESSERA_SHARED(name) unsigned char* const name = emulated::block().shared
