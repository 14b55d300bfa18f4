// Twin of device/threads.cuh. PTX ISA, "Parallel Synchronization and Communication Instructions": barrier and
// shfl.sync.
inline int thread_index() {
  return emulated::block.running;
}
inline int64 block_index() {
  return emulated::block.number;
}

inline void barrier(const emulated::Place& place = emulated::Place::current()) {
  using emulated::block;
  if (block.arrived == 0) block.barrier = place;
  if (place.line() != block.barrier.line())
    emulated::fail(place, "waits at a barrier, but others wait at that of line %u",
                   static_cast<unsigned>(block.barrier.line()));
  const unsigned mine = ++emulated::self().barriers;
  if (++block.arrived == block.threads) {
    block.arrived = 0;
    ++block.barriers;
  }
  emulated::wait_until([mine] { return emulated::block.barriers >= mine; });
}

template <typename T>
T shuffle_xor(T x, int mask) {
  emulated::Fiber& f = emulated::self();
  const unsigned mine = ++f.shuffles, which = mine % 2;
  std::memcpy(&f.shown[which], &x, sizeof x);
  const int lane = emulated::block.running % emulated::kLanes, first = emulated::block.running - lane;
  emulated::wait_until([mine, first] {
    for (int i = first; i < first + emulated::kLanes; ++i) {
      if (emulated::fiber(i).shuffles < mine) return false;
    }
    return true;
  });
  const emulated::Fiber& other = emulated::fiber(first + (lane ^ mask));
  T result;
  std::memcpy(&result, &other.shown[which], sizeof result);
  return result;
}

/// A function of the kernel's name that runs the whole grid on a host: `tensors` are the first byte and the
/// one after the last of each tensor. Returns what went wrong, or null.
#define TESSERA_KERNEL(name, threads_per_block, blocks_per_multiprocessor)                           \
  static void name##_thread(const Parameters& p);                                                    \
  extern "C" const char* name(const void* parameters, int64 blocks, int64 shared_bytes,              \
                              const void* const* tensors, int64 tensor_count, int late) {            \
    emulated::block.kernel = #name;                                                                  \
    emulated::block.body = [](const void* p) { name##_thread(*static_cast<const Parameters*>(p)); }; \
    emulated::block.parameters = parameters;                                                         \
    emulated::block.threads = threads_per_block;                                                     \
    emulated::block.tensors = tensors;                                                               \
    emulated::block.tensor_count = tensor_count;                                                     \
    emulated::block.late = late != 0;                                                                \
    return emulated::run_grid(blocks, shared_bytes);                                                 \
  }                                                                                                  \
  static void name##_thread(const Parameters& p)
#define TESSERA_SHARED(name) unsigned char* const name = emulated::block.shared.data()
