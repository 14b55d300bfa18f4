// Twin of device/bulk_copy.cuh. PTX ISA, "Tensors" and "cp.async.bulk.tensor": a box stands in shared memory
// with the first dim fastest, its 16-byte chunks permuted by bits 7 to 9 of their address. Elements outside
// of the tensor are read as zeros, and are not written.
namespace emulated {

inline int64 bytes_of(const BoxCopy& copy) {
  int64 bytes = copy.map->element_bytes;
  for (int d = 0; d < copy.map->rank; ++d) bytes *= copy.map->box[d];
  return bytes;
}

/// Calls `move(address in shared memory, element of the tensor)` for each of the box; null outside the
/// tensor.
template <typename Move>
void for_each_element(const BoxCopy& copy, const Move& move) {
  const TensorMap& map = *copy.map;
  const int64 count = bytes_of(copy) / map.element_bytes;
  for (int64 i = 0; i < count; ++i) {
    unsigned char* element = map.data;
    bool inside = true;
    int64 rest = i;
    for (int d = 0; d < map.rank; ++d) {
      const int64 x = copy.first[d] + rest % map.box[d];
      rest /= map.box[d];
      inside = inside && x >= 0 && x < map.size[d];
      element += x * map.stride[d];
    }
    const unsigned address = copy.at + static_cast<unsigned>(i * map.element_bytes);
    move(address ^ (address / 8 & static_cast<unsigned>(map.swizzle - 16)), inside ? element : nullptr);
  }
}

/// A copy to shared memory arrives.
inline void land(const BoxCopy& copy, const Stamp& arrival) {
  const auto bytes = static_cast<std::size_t>(copy.map->element_bytes);
  for_each_element(copy, [&](unsigned address, const unsigned char* element) {
    unsigned char* to = pointer_to(address);
    if (element == nullptr) std::memset(to, 0, bytes);
    if (element != nullptr) std::memcpy(to, element, bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      Shadow& s = block_of(copy.rank).shadows[offset_of(address) + i];
      s.written = true;
      s.copying = false;
      s.writer = arrival;
    }
  });
}

inline void write_out(const BoxCopy& copy) {
  const auto bytes = static_cast<std::size_t>(copy.map->element_bytes);
  for_each_element(copy, [&](unsigned address, unsigned char* element) {
    if (element != nullptr && copy.accumulates)
      *reinterpret_cast<float*>(element) += *reinterpret_cast<float*>(pointer_to(address));
    else if (element != nullptr)
      std::memcpy(element, pointer_to(address), bytes);
  });
}

inline BoxCopy box_copy(const TensorMap* map, unsigned at, std::initializer_list<int> first,
                        const Place& place) {
  BoxCopy copy{map, {}, at, static_cast<int>(at >> kRankBit)};
  if (static_cast<int>(first.size()) != map->rank)
    fail(place, "copies a box of %zu dims by a map of %d", first.size(), map->rank);
  std::copy(first.begin(), first.end(), copy.first);
  if (at % 128 != 0) fail(place, "copies a box at %u of shared memory, which is not a multiple of 128", at);
  if (map->box[0] * map->element_bytes != map->swizzle)
    fail(place, "copies rows of %d bytes, swizzled by %d", map->box[0] * map->element_bytes, map->swizzle);
  for_each_element(copy, [&](unsigned, const unsigned char* element) {
    if (element != nullptr) check_global(element, map->element_bytes, "copies", place);
  });
  return copy;
}

/// In pieces of the size that a swizzle moves.
template <typename Note>
void for_each_chunk(const BoxCopy& copy, const Note& note) {
  for (int64 i = 0; i < bytes_of(copy); i += 16) note(pointer_to(copy.at + static_cast<unsigned>(i)), 16);
}

inline void start_copy(unsigned to, const TensorMap* map, unsigned mbarrier, std::initializer_list<int> first,
                       const Place& place) {
  Mbarrier& m = mbarrier_at(mbarrier, place);
  if (!m.fenced) fail(place, "has copies counted by an mbarrier that no fence has made known");
  const BoxCopy copy = box_copy(map, to, first, place);
  for_each_chunk(copy, [&](const unsigned char* at, int bytes) {
    note_write(at, bytes, place, {m.agent, m.phases + 1}, true, true, block_of(copy.rank));
  });
  m.coming.push_back(copy);
  if (!block().late) land_all(m);
}

inline void start_copy_out(const TensorMap* map, unsigned from, std::initializer_list<int> first,
                           const Place& place, bool accumulates = false) {
  Fiber& f = self();
  BoxCopy copy = box_copy(map, from, first, place);
  copy.accumulates = accumulates;
  if (accumulates && map->element_bytes != sizeof(float))
    fail(place, "adds elements of %d bytes, which are no f32", map->element_bytes);
  const Stamp reader{agent_of_stores(block().running), f.committed_stores + 1};
  for_each_chunk(copy,
                 [&](const unsigned char* at, int bytes) { note_read(at, bytes, place, reader, true); });
  f.open_stores.push_back(copy);
  if (!block().late) write_out(copy);
}

}  // namespace emulated

inline void prefetch_map(const TensorMap*) {}

inline void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0,
                      const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy(to, map, mbarrier, {x0}, place);
}
inline void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0, int x1,
                      const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy(to, map, mbarrier, {x0, x1}, place);
}
inline void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0, int x1, int x2,
                      const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy(to, map, mbarrier, {x0, x1, x2}, place);
}
inline void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0, int x1, int x2, int x3,
                      const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy(to, map, mbarrier, {x0, x1, x2, x3}, place);
}
inline void copy_bulk(unsigned to, const TensorMap* map, unsigned mbarrier, int x0, int x1, int x2, int x3,
                      int x4, const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy(to, map, mbarrier, {x0, x1, x2, x3, x4}, place);
}

inline void copy_out(const TensorMap* map, unsigned from, int x0,
                     const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0}, place);
}
inline void copy_out(const TensorMap* map, unsigned from, int x0, int x1,
                     const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0, x1}, place);
}
inline void copy_out(const TensorMap* map, unsigned from, int x0, int x1, int x2,
                     const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0, x1, x2}, place);
}
inline void copy_out(const TensorMap* map, unsigned from, int x0, int x1, int x2, int x3,
                     const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0, x1, x2, x3}, place);
}
inline void copy_out(const TensorMap* map, unsigned from, int x0, int x1, int x2, int x3, int x4,
                     const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0, x1, x2, x3, x4}, place);
}

/// PTX ISA, "cp.reduce.async.bulk.tensor".
inline void accumulate_out(const TensorMap* map, unsigned from, int x0,
                           const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0}, place, true);
}
inline void accumulate_out(const TensorMap* map, unsigned from, int x0, int x1,
                           const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0, x1}, place, true);
}
inline void accumulate_out(const TensorMap* map, unsigned from, int x0, int x1, int x2,
                           const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0, x1, x2}, place, true);
}
inline void accumulate_out(const TensorMap* map, unsigned from, int x0, int x1, int x2, int x3,
                           const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0, x1, x2, x3}, place, true);
}
inline void accumulate_out(const TensorMap* map, unsigned from, int x0, int x1, int x2, int x3, int x4,
                           const emulated::Place& place = emulated::Place::current()) {
  emulated::start_copy_out(map, from, {x0, x1, x2, x3, x4}, place, true);
}

/// PTX ISA, "cp.async.bulk.commit_group" and "cp.async.bulk.wait_group": groups of one thread.
inline void commit_stores() {
  emulated::Fiber& f = emulated::self();
  f.stores.push_back(std::exchange(f.open_stores, {}));
  ++f.committed_stores;
}
template <int Pending>
void wait_stores() {
  emulated::Fiber& f = emulated::self();
  for (; f.stores.size() > Pending; f.stores.erase(f.stores.begin())) {
    for (const emulated::BoxCopy& copy : f.stores.front()) {
      if (emulated::block().late) emulated::write_out(copy);
    }
  }
  emulated::time_of(f.clock, emulated::agent_of_stores(emulated::block().running)) =
      f.committed_stores - static_cast<unsigned>(f.stores.size());
}

/// PTX ISA, "fence.proxy.async": what this thread wrote before may be read by the async proxy.
inline void fence_shared() {
  emulated::Fiber& f = emulated::self();
  unsigned& time = emulated::time_of(f.clock, emulated::agent());
  f.fences.push_back(time++);
}
