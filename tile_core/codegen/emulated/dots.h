// What a dot of a warpgroup reads, does and may not meet. PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions". Products are added by fma in the order of k, as the interpreter does.
namespace emulated {

/// PTX ISA, "Matrix Descriptor Format" and "Strides": the address of element k of a line: a row of a, a
/// column of b. A swizzle's pattern is 8 rows of its width: of 8 lines where k is contiguous (K-major), of 8
/// values of k where lines are (MN-major).
inline unsigned operand_address(unsigned long long descriptor, bool major, int line, int k) {
  const auto field = [&](int bit) { return static_cast<unsigned>(descriptor >> bit & 0x3fff) * 16; };
  const unsigned width = 256u >> (descriptor >> 62);
  const auto across = static_cast<unsigned>(2 * (major ? line : k)),
             down = static_cast<unsigned>(major ? k : line);
  const unsigned linear =
      field(0) + across / width * field(16) + across % width + down / 8 * field(32) + down % 8 * width;
  return linear ^ (linear / 8 & (width - 16));
}

/// Where k is contiguous, one stride is of no use: what stands there comes from elsewhere.
inline void check_descriptor(unsigned long long descriptor, bool major, const Place& place) {
  if (!major && (descriptor >> 16 & 0xffff) != 0)
    fail(place, "issues a dot with descriptor %llx, whose address has more than 18 bits", descriptor);
  if (descriptor >> 62 == 0 || (descriptor >> 46 & 0xffff) % 0x4000 != 0)
    fail(place, "issues a dot with descriptor %llx, which is not of a swizzled operand", descriptor);
  const unsigned width = 256u >> (descriptor >> 62), start = static_cast<unsigned>(descriptor & 0x3fff) * 16;
  if (start % (8 * width) >= width)
    fail(place, "issues a dot on an operand at %u, which is not the first row of a pattern of %u bytes",
         start, 8 * width);
}

/// The first of the two rows that this thread holds; the other is 8 below. Its columns are 2 (lane % 4) and
/// the next of every 8 ("Register Fragments").
inline int first_row() {
  return block().running % kGroup / kLanes * 16 + block().running % kLanes / 4;
}
inline int first_column() {
  return block().running % 4 * 2;
}

template <typename T>
float element_at(unsigned address) {
  T x;
  std::memcpy(&x, pointer_to(address_in(block().rank, address)), sizeof x);
  return convert<float>(x);
}

template <typename T>
void run_dot(const Dot& dot) {
  float left[2][16];
  for (int i = 0; i < 32; ++i) {
    left[i / 16][i % 16] =
        dot.registers != nullptr
            ? dot.left[i / 16][i % 16]
            : element_at<T>(operand_address(dot.a, dot.a_major, first_row() + i / 16 * 8, i % 16));
  }
  for (int i = 0; i < dot.columns / 4; ++i) {
    const int column = i / 2 * 8 + first_column() + i % 2;
    float right[16];
    for (int k = 0; k < 16; ++k) right[k] = element_at<T>(operand_address(dot.b, dot.b_major, column, k));
    for (int row = 0; row < 2; ++row) {
      float& sum = dot.sum[i / 2 * 4 + row * 2 + i % 2];
      float s = dot.added ? sum : 0.0f;
      for (int k = 0; k < 16; ++k) s = std::fma(left[row][k], right[k], s);
      sum = s;
    }
  }
}

/// What the warpgroup reads must be there for each of its threads. Many threads read the same columns: one of
/// them looks at all values of k, the others at the first.
inline void note_operands(const Dot& dot, const Place& place) {
  const Stamp reader{agent_of_dots(block().running), self().committed_dots + 1};
  const auto note = [&](unsigned long long descriptor, bool major, int line, int count) {
    for (int k = 0; k < count; ++k)
      note_read(pointer_to(address_in(block().rank, operand_address(descriptor, major, line, k))), 2, place,
                reader, true);
  };
  check_descriptor(dot.b, dot.b_major, place);
  for (int i = 0; i < dot.columns / 4; ++i)
    note(dot.b, dot.b_major, i / 2 * 8 + first_column() + i % 2, block().running % kGroup < 4 ? 16 : 1);
  if (dot.registers != nullptr) return;
  check_descriptor(dot.a, dot.a_major, place);
  note(dot.a, dot.a_major, first_row(), 16);
  note(dot.a, dot.a_major, first_row() + 8, 16);
}

constexpr unsigned kInFlight = 0x7fdead00;  // a NaN

inline bool is_in_flight(const float* sum) {
  const auto on_it = [&](const Dot& dot) { return dot.sum == sum; };
  const Fiber& f = self();
  for (const std::vector<Dot>& group : f.dots) {
    if (std::any_of(group.begin(), group.end(), on_it)) return true;
  }
  return std::any_of(f.open_dots.begin(), f.open_dots.end(), on_it);
}

inline void issue(Dot dot) {
  if (!self().fenced_dots) fail(dot.place, "issues a dot, and no fence stands before the first of its group");
  note_operands(dot, dot.place);
  if (!block().late) {
    dot.run(dot);
  } else if (!is_in_flight(dot.sum)) {
    dot.held.assign(dot.sum, dot.sum + dot.columns / 2);
    std::fill_n(dot.sum, dot.columns / 2, bits_as<float>(kInFlight));
  }
  self().open_dots.push_back(std::move(dot));
}

/// The dot has happened; nothing may have touched its registers since its issue.
inline void finish(const Dot& dot, const Place& place) {
  if (dot.registers != nullptr && std::memcmp(dot.registers, dot.read, sizeof dot.read) != 0)
    fail(place, "waits for the dot of line %u, whose operand in registers has changed",
         static_cast<unsigned>(dot.place.line()));
  for (std::size_t i = 0; i < dot.held.size(); ++i) {
    if (bits_as<unsigned>(dot.sum[i]) != kInFlight)
      fail(place, "waits for the dot of line %u, whose accumulator has changed",
           static_cast<unsigned>(dot.place.line()));
    dot.sum[i] = dot.held[i];
  }
  if (block().late) dot.run(dot);
}

/// The 16 values of k of this thread's two rows, of which each lane of four holds a part.
template <typename T>
void gather_rows(Dot& dot, const T* part) {
  for (int half = 0; half < 2; ++half) {  // of k: two words, of either row
    std::array<T, 4> mine;
    std::copy(part + 4 * half, part + 4 * half + 4, mine.begin());
    const auto all = shown_by_lanes(mine, dot.place);
    for (int i = 0; i < 16; ++i) {
      const int row = i / 8, k = i % 8, lane = block().running % kLanes / 4 * 4 + k / 2;
      dot.left[row][8 * half + k] =
          convert<float>(all[static_cast<std::size_t>(lane)][static_cast<std::size_t>(2 * row + k % 2)]);
    }
  }
  std::memcpy(dot.read, part, sizeof dot.read);
}

}  // namespace emulated
