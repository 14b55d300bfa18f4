// Twin of device/memory.cuh.
namespace emulated {

inline void land(const Copy& copy) {
  if (copy.inside) {
    std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.bytes));
  } else {
    std::memset(copy.to, 0, static_cast<std::size_t>(copy.bytes));
  }
}

/// The bytes of a copy are there for whoever comes after the running thread.
inline void finish(const Copy& copy) {
  if (block().late) land(copy);
  for (unsigned char* byte = copy.to; byte < copy.to + copy.bytes; ++byte) {
    Shadow& s = block().shadows[static_cast<std::size_t>(byte - block().shared)];
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

/// PTX ISA, "red": each element is added at once; here threads take turns.
template <int N>
void accumulate_global(float* to, const float* from, bool inside,
                       const emulated::Place& place = emulated::Place::current()) {
  if (!inside) return;
  emulated::check_global(to, N * sizeof(float), "adds to", place);
  for (int i = 0; i < N; ++i) to[i] += from[i];
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

/// Elements of which `count` exist, and zeros.
template <int N, typename T>
void copy_realigned(T* to, const T* from, int count,
                    const emulated::Place& place = emulated::Place::current()) {
  T elements[N];
  for (int i = 0; i < N; ++i) load_global<1>(&elements[i], from + i, i < count, place);
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
  if (!emulated::block().late) emulated::land(copy);
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
  return emulated::address_in(
      emulated::block().rank,
      static_cast<unsigned>(static_cast<const unsigned char*>(p) - emulated::block().shared) +
          emulated::kSharedStart);
}
