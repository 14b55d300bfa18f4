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
  if (first < block.shared || first + bytes > block.shared + block.shared_bytes)
    fail(place, "%s %d bytes at %lld of %zu bytes of shared memory", verb, bytes,
         static_cast<int64>(first - block.shared), block.shared_bytes);
  return static_cast<std::size_t>(first - block.shared);
}

inline unsigned char* pointer_to(unsigned address) {
  return block.shared + (static_cast<int64>(address) - kSharedStart);
}

/// "thread 5", "a dot of warpgroup 1"
inline const char* name_of(const Stamp& s) {
  static char text[64];
  const int group = s.agent - block.threads, warps = block.threads / kLanes;
  if (group < 0)
    std::snprintf(text, sizeof text, "thread %d", s.agent);
  else if (group < warps)
    std::snprintf(text, sizeof text, "a dot of warpgroup %d", group);
  else if (group < 2 * warps)
    std::snprintf(text, sizeof text, "a copy out of warp %d", group - warps);
  else
    std::snprintf(text, sizeof text, "a bulk copy");
  return text;
}

/// Notes that an agent reads the bytes, and fails where they are not there for it.
inline void note_read(const void* address, int bytes, const Place& place, Stamp reader, bool asynchronous) {
  const std::size_t first = shared_offset(address, bytes, "reads", place);
  for (std::size_t i = first; i < first + static_cast<std::size_t>(bytes); ++i) {
    Shadow& s = block.shadows[i];
    if (s.copying)
      fail(place, "reads byte %zu of shared memory, to which the copy of %s is unfinished", i,
           name_of(s.writer));
    if (!s.written) fail(place, "reads byte %zu of shared memory, which nothing has written", i);
    if (!is_before(s.writer))
      fail(place, "reads byte %zu of shared memory, which %s has written, with no barrier between", i,
           name_of(s.writer));
    if (asynchronous && !s.asynchronous && !is_fenced(s.writer))
      fail(place,
           "has the async proxy read byte %zu of shared memory, which %s has written, with no fence between",
           i, name_of(s.writer));
    Stamp* free = nullptr;  // who is seen already, or the same agent, need not be remembered
    for (Stamp& r : s.readers) {
      if (r.agent == reader.agent || (free == nullptr && is_before(r))) free = &r;
      if (r.agent == reader.agent) break;
    }
    if (free != nullptr) *free = reader;
  }
}
inline void note_read(const void* address, int bytes, const Place& place) {
  note_read(address, bytes, place, stamp_now(), false);
}

/// Notes that an agent writes the bytes, and fails where another may still write or read them.
inline void note_write(const void* address, int bytes, const Place& place, Stamp writer, bool copying,
                       bool asynchronous) {
  const std::size_t first = shared_offset(address, bytes, "writes", place);
  for (std::size_t i = first; i < first + static_cast<std::size_t>(bytes); ++i) {
    Shadow& s = block.shadows[i];
    if (s.mbarrier) fail(place, "writes byte %zu of shared memory, where an mbarrier is", i);
    if (s.copying)
      fail(place, "writes byte %zu of shared memory, to which the copy of %s is unfinished", i,
           name_of(s.writer));
    if (s.written && !is_before(s.writer))
      fail(place, "writes byte %zu of shared memory, which %s has written, with no barrier between", i,
           name_of(s.writer));
    for (const Stamp& r : s.readers) {
      if (!is_before(r))
        fail(place, "writes byte %zu of shared memory, which %s has read, with no barrier between", i,
             name_of(r));
    }
    s = {.written = !copying, .copying = copying, .asynchronous = asynchronous, .writer = writer};
  }
}
inline void note_write(const void* address, int bytes, bool copying, const Place& place) {
  note_write(address, bytes, place, stamp_now(), copying, false);
}

inline void land(const Copy& copy) {
  if (copy.inside) {
    std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.bytes));
  } else {
    std::memset(copy.to, 0, static_cast<std::size_t>(copy.bytes));
  }
}

/// The bytes of a copy are there for whoever comes after the running thread.
inline void finish(const Copy& copy) {
  if (block.late) land(copy);
  for (unsigned char* byte = copy.to; byte < copy.to + copy.bytes; ++byte) {
    Shadow& s = block.shadows[static_cast<std::size_t>(byte - block.shared)];
    s.written = true;
    s.copying = false;
    s.writer = stamp_now();
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

/// PTX ISA, "Swizzling Modes": inside rows of Width bytes, the 16-byte chunks are permuted by the row's
/// number.
template <int Width>
unsigned swizzled(unsigned offset) {
  return offset ^ (offset / 8 & (Width - 16));
}

inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(p) - emulated::block.shared) +
         emulated::kSharedStart;
}
