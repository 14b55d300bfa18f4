// Twin of device/matrix.cuh. PTX ISA, "Warp-level Matrix Load and Store Instructions": lane l holds elements
// 2 (l % 4) and the next of row l / 4 of each matrix; lane 8 i + j gives the address of row j of matrix i.
namespace emulated {

/// Calls `move(register, address)` for the elements of this lane, one at a time.
template <int Count, bool Transposed, typename Move>
void for_each_element(unsigned address, const Place& place, const Move& move) {
  const std::array<unsigned, kLanes> rows = shown_by_lanes(address, place);
  const int lane = block().running % kLanes;
  for (int i = 0; i < Count; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int row = Transposed ? lane % 4 * 2 + j : lane / 4,
                column = Transposed ? lane / 4 : lane % 4 * 2 + j;
      const unsigned start = rows[static_cast<std::size_t>(8 * i + row)];
      if (start % 16 != 0) fail(place, "moves a row of a matrix at %u, which is not a multiple of 16", start);
      move(2 * i + j, pointer_to(start + 2 * static_cast<unsigned>(column)));
    }
  }
}

}  // namespace emulated

template <int Count, bool Transposed, typename T>
void write_matrices(unsigned to, const T* from, const emulated::Place& place = emulated::Place::current()) {
  static_assert((Count == 2 || Count == 4) && sizeof(T) == 2);
  emulated::for_each_element<Count, Transposed>(to, place, [&](int i, unsigned char* at) {
    emulated::note_write(at, 2, false, place);
    std::memcpy(at, &from[i], 2);
  });
}

template <int Count, bool Transposed, typename T>
void read_matrices(T* to, unsigned from, const emulated::Place& place = emulated::Place::current()) {
  static_assert((Count == 2 || Count == 4) && sizeof(T) == 2);
  emulated::for_each_element<Count, Transposed>(from, place, [&](int i, unsigned char* at) {
    emulated::note_read(at, 2, place);
    std::memcpy(&to[i], at, 2);
  });
}

template <int Count, bool Transposed>
void read_words(unsigned* words, unsigned from, const emulated::Place& place = emulated::Place::current()) {
  bf16 elements[2 * Count];  // of either type of 16 bits
  read_matrices<Count, Transposed>(elements, from, place);
  for (int i = 0; i < Count; ++i) words[i] = word_of(elements + 2 * i);
}

/// PTX ISA, "ld": of 4 bytes each where lines are of the contracted axis, else of 8.
template <int Width, bool Transposed, bool First>
void read_pairs(unsigned* words, unsigned from, const emulated::Place& place = emulated::Place::current()) {
  static_assert(Width == 64 || Width == 128);
  for (unsigned line = 0; line < 2; ++line) {
    unsigned pair[2];
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned next = (from + Width) ^ (Width == 128 ? 16 : 0);
      const unsigned at = Transposed ? (i == 0 ? from : next) ^ 32 * line : from + 8 * Width * line + 4 * i;
      emulated::note_read(emulated::pointer_to(at), 4, place);
      std::memcpy(&pair[i], emulated::pointer_to(at), 4);
    }
    words[First ? line : 2 * line] = pair[0];
    words[First ? line + 2 : 2 * line + 1] = pair[1];
  }
  if (!Transposed && from % 8 != 0)
    emulated::fail(place, "reads 8 bytes at %u, which is not a multiple of 8", from);
}
