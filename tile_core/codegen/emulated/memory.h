// Twin of device/memory.cuh. Every access checks its alignment (PTX ISA, "Addresses as Operands"), that it
// stays in a tensor or in the block's shared memory, and that barriers order it after other threads'
// accesses.
namespace emulated {

inline void check_alignment(const void* address, int bytes, const char* verb, const Place& place) {
  if (reinterpret_cast<std::size_t>(address) % static_cast<std::size_t>(bytes) == 0) return;
  fail(place, "%s %d bytes at %p, which is not a multiple of %d", verb, bytes, address, bytes);
}

inline void check_global(const void* address, int bytes, const char* verb, const Place& place) {
  check_alignment(address, bytes, verb, place);
  const char* first = static_cast<const char*>(address);
  for (int64 i = 0; i < block.tensor_count; ++i) {
    const char* begin = static_cast<const char*>(block.tensors[2 * i]);
    const char* end = static_cast<const char*>(block.tensors[2 * i + 1]);
    if (first >= begin && first + bytes <= end) return;
  }
  fail(place, "%s %d bytes at %p, which is outside of every tensor", verb, bytes, address);
}

/// The byte's place in shared memory.
inline std::size_t shared_offset(const void* address, int bytes, const char* verb, const Place& place) {
  check_alignment(address, bytes, verb, place);
  const unsigned char* first = static_cast<const unsigned char*>(address);
  const unsigned char* begin = block.shared.data();
  if (first < begin || first + bytes > begin + block.shared.size())
    fail(place, "%s %d bytes at %lld of %zu bytes of shared memory", verb, bytes,
         static_cast<int64>(first - begin), block.shared.size());
  return static_cast<std::size_t>(first - begin);
}

inline void note_read(const void* address, int bytes, const Place& place) {
  const std::size_t first = shared_offset(address, bytes, "reads", place);
  for (std::size_t i = first; i < first + static_cast<std::size_t>(bytes); ++i) {
    Shadow& s = block.shadows[i];
    if (s.copying)
      fail(place, "reads byte %zu of shared memory, to which thread %d's copy is unfinished", i, s.writer);
    if (!s.written) fail(place, "reads byte %zu of shared memory, which nothing has written", i);
    if (s.written_at == block.barriers && s.writer != block.running)
      fail(place, "reads byte %zu of shared memory, which thread %d has written since the last barrier", i,
           s.writer);
    const bool another = s.read_at == block.barriers && s.reader != kNobody && s.reader != block.running;
    s.reader = another ? kSeveral : block.running;
    s.read_at = block.barriers;
  }
}

inline void note_write(const void* address, int bytes, bool copying, const Place& place) {
  const std::size_t first = shared_offset(address, bytes, "writes", place);
  for (std::size_t i = first; i < first + static_cast<std::size_t>(bytes); ++i) {
    Shadow& s = block.shadows[i];
    if (s.copying)
      fail(place, "writes byte %zu of shared memory, to which thread %d's copy is unfinished", i, s.writer);
    if (s.written && s.written_at == block.barriers && s.writer != block.running)
      fail(place, "writes byte %zu of shared memory, which thread %d has written since the last barrier", i,
           s.writer);
    if (s.read_at == block.barriers && s.reader != kNobody && s.reader != block.running)
      fail(place, "writes byte %zu of shared memory, which another has read since the last barrier", i);
    s = {.written = !copying, .copying = copying, .writer = block.running, .written_at = block.barriers};
  }
}

inline void land(const Copy& copy) {
  if (copy.inside) {
    std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.bytes));
  } else {
    std::memset(copy.to, 0, static_cast<std::size_t>(copy.bytes));
  }
}

inline void finish(const Copy& copy) {
  if (block.late) land(copy);
  for (unsigned char* byte = copy.to; byte < copy.to + copy.bytes; ++byte) {
    Shadow& s = block.shadows[static_cast<std::size_t>(byte - block.shared.data())];
    s.written = true;
    s.copying = false;
    s.written_at = block.barriers;
  }
}

}  // namespace emulated

template <int N, typename T>
void load_global(T* to, const T* from, bool inside,
                 const emulated::Place& place = emulated::Place::current()) {
  std::memset(to, 0, N * sizeof(T));
  if (!inside) return;
  emulated::check_global(from, N * sizeof(T), "reads", place);
  std::memcpy(to, from, N * sizeof(T));
}

template <int N, typename T>
void store_global(T* to, const T* from, bool inside,
                  const emulated::Place& place = emulated::Place::current()) {
  if (!inside) return;
  emulated::check_global(to, N * sizeof(T), "writes", place);
  std::memcpy(to, from, N * sizeof(T));
}

template <int N, typename T>
void read_shared(T* to, const T* from, const emulated::Place& place = emulated::Place::current()) {
  emulated::note_read(from, N * sizeof(T), place);
  std::memcpy(to, from, N * sizeof(T));
}

template <int N, typename T>
void write_shared(T* to, const T* from, const emulated::Place& place = emulated::Place::current()) {
  emulated::note_write(to, N * sizeof(T), false, place);
  std::memcpy(to, from, N * sizeof(T));
}

template <int N, typename T>
void copy(T* to, const T* from, bool inside, const emulated::Place& place = emulated::Place::current()) {
  T elements[N];
  load_global<N>(elements, from, inside, place);
  write_shared<N>(to, elements, place);
}

/// PTX ISA, "Asynchronous copy: cp.async": the source's address must be aligned even where no byte is read.
template <int N, typename T>
void copy_async(T* to, const T* from, bool inside,
                const emulated::Place& place = emulated::Place::current()) {
  constexpr int kBytes = N * sizeof(T);
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  emulated::check_alignment(from, kBytes, "copies", place);
  if (inside) emulated::check_global(from, kBytes, "copies", place);
  emulated::note_write(to, kBytes, true, place);
  const emulated::Copy copy{reinterpret_cast<unsigned char*>(to), from, kBytes, inside};
  if (!emulated::block.late) emulated::land(copy);
  emulated::self().open.push_back(copy);
}

/// PTX ISA, "cp.async.commit_group".
inline void commit_copies() {
  emulated::Fiber& f = emulated::self();
  f.groups.push_back(std::exchange(f.open, {}));
}

/// PTX ISA, "cp.async.wait_group": all but the newest groups have finished.
template <int Pending>
void wait_copies() {
  std::vector<std::vector<emulated::Copy>>& groups = emulated::self().groups;
  while (groups.size() > Pending) {
    for (const emulated::Copy& copy : groups.front()) emulated::finish(copy);
    groups.erase(groups.begin());
  }
}
