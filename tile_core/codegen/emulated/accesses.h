// Every access to memory checks its alignment (PTX ISA, "Addresses as Operands"), that it stays in a tensor
// or in the block's shared memory, and that barriers order it after other threads' accesses.
namespace emulated {

inline void check_alignment(const void* address, int bytes, const char* verb, const Place& place) {
  if (reinterpret_cast<std::size_t>(address) % static_cast<std::size_t>(bytes) == 0) return;
  fail(place, "%s %d bytes at %p, which is not a multiple of %d", verb, bytes, address, bytes);
}

inline void check_global(const void* address, int bytes, const char* verb, const Place& place) {
  check_alignment(address, bytes, verb, place);
  const char* first = static_cast<const char*>(address);
  for (int64 i = 0; i < block().tensor_count; ++i) {
    const char* begin = static_cast<const char*>(block().tensors[2 * i]);
    const char* end = static_cast<const char*>(block().tensors[2 * i + 1]);
    if (first >= begin && first + bytes <= end) return;
  }
  fail(place, "%s %d bytes at %p, which is outside of every tensor", verb, bytes, address);
}

/// The byte's place in the shared memory of a block.
inline std::size_t shared_offset(const void* address, int bytes, const char* verb, const Place& place,
                                 const Block& in = block()) {
  check_alignment(address, bytes, verb, place);
  const unsigned char* first = static_cast<const unsigned char*>(address);
  if (first < in.shared || first + bytes > in.shared + in.shared_bytes)
    fail(place, "%s %d bytes at %lld of %zu bytes of shared memory", verb, bytes,
         static_cast<int64>(first - in.shared), in.shared_bytes);
  return static_cast<std::size_t>(first - in.shared);
}

/// What stands in the block of a rank where the address is in its own.
inline unsigned address_in(int rank, unsigned address) {
  return (address & ((1u << kRankBit) - 1)) | static_cast<unsigned>(rank) << kRankBit;
}
inline std::size_t offset_of(unsigned address) {
  return address_in(0, address) - kSharedStart;
}
inline unsigned char* pointer_to(unsigned address) {
  return block_of(static_cast<int>(address >> kRankBit)).shared + static_cast<int64>(offset_of(address));
}

/// "thread 5", "a dot of warpgroup 1", "the copy engine"
inline const char* name_of(const Stamp& s) {
  static char text[64];
  const int thread = s.agent % agents(), group = thread - block().threads, warps = block().threads / kLanes;
  if (group < 0 && s.agent / agents() != block().rank)
    std::snprintf(text, sizeof text, "thread %d of the block of rank %d", thread, s.agent / agents());
  else if (group < 0)
    std::snprintf(text, sizeof text, "thread %d", thread);
  else if (group < warps)
    std::snprintf(text, sizeof text, "a dot of warpgroup %d", group);
  else if (group < 2 * warps)
    std::snprintf(text, sizeof text, "a copy out of warp %d", group - warps);
  else
    std::snprintf(text, sizeof text, "the copy engine");
  return text;
}

/// Notes that an agent reads the bytes, and fails where they are not there for it.
inline void note_read(const void* address, int bytes, const Place& place, Stamp reader, bool asynchronous) {
  const std::size_t first = shared_offset(address, bytes, "reads", place);
  for (std::size_t i = first; i < first + static_cast<std::size_t>(bytes); ++i) {
    Shadow& s = block().shadows[i];
    if (s.copying)
      fail(place, "reads byte %zu of shared memory, to which a copy by %s is unfinished", i,
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
    // More are not remembered: of a race one is found, whoever it is with.
    if (free == nullptr) free = &s.readers[reader.agent % std::size(s.readers)];
    *free = reader;
  }
}
inline void note_read(const void* address, int bytes, const Place& place) {
  note_read(address, bytes, place, stamp_now(), false);
}

/// Notes that an agent writes the bytes, and fails where another may still write or read them.
inline void note_write(const void* address, int bytes, const Place& place, Stamp writer, bool copying,
                       bool asynchronous, Block& in = block()) {
  const std::size_t first = shared_offset(address, bytes, "writes", place, in);
  for (std::size_t i = first; i < first + static_cast<std::size_t>(bytes); ++i) {
    Shadow& s = in.shadows[i];
    if (s.mbarrier) fail(place, "writes byte %zu of shared memory, where an mbarrier is", i);
    if (s.copying)
      fail(place, "writes byte %zu of shared memory, to which a copy by %s is unfinished", i,
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

}  // namespace emulated
