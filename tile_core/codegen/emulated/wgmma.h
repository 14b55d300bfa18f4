// Twin of device/wgmma.cuh. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
// Products are added by fma in the order of k, as the interpreter does.
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

inline void check_descriptor(unsigned long long descriptor, const Place& place) {
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
  return block.running % kGroup / kLanes * 16 + block.running % kLanes / 4;
}
inline int first_column() {
  return block.running % 4 * 2;
}

template <typename T>
float element_at(unsigned address) {
  T x;
  std::memcpy(&x, pointer_to(address), sizeof x);
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
  const Stamp reader{agent_of_dots(block.running), self().committed_dots + 1};
  const auto note = [&](unsigned long long descriptor, bool major, int line, int count) {
    for (int k = 0; k < count; ++k)
      note_read(pointer_to(operand_address(descriptor, major, line, k)), 2, place, reader, true);
  };
  check_descriptor(dot.b, place);
  for (int i = 0; i < dot.columns / 4; ++i)
    note(dot.b, dot.b_major, i / 2 * 8 + first_column() + i % 2, block.running % kGroup < 4 ? 16 : 1);
  if (dot.registers != nullptr) return;
  check_descriptor(dot.a, place);
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
  if (!block.late) {
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
  if (block.late) dot.run(dot);
}

/// The 16 values of k of this thread's two rows, of which each lane of four holds a part.
template <typename T>
void gather_rows(Dot& dot, const T* part) {
  for (int half = 0; half < 2; ++half) {  // of k: two words, of either row
    std::array<T, 4> mine;
    std::copy(part + 4 * half, part + 4 * half + 4, mine.begin());
    const auto all = shown_by_lanes(mine, dot.place);
    for (int i = 0; i < 16; ++i) {
      const int row = i / 8, k = i % 8, lane = block.running % kLanes / 4 * 4 + k / 2;
      dot.left[row][8 * half + k] =
          convert<float>(all[static_cast<std::size_t>(lane)][static_cast<std::size_t>(2 * row + k % 2)]);
    }
  }
  std::memcpy(dot.read, part, sizeof dot.read);
}

}  // namespace emulated

#define TESSERA_DOT_OF_SLOTS(name, n, type, numbers, i_a, i_b, i_added, major_a, major_b, ...) \
  inline void name(float* d, unsigned long long at_a, unsigned long long at_b, int accumulate, \
                   const emulated::Place& place = emulated::Place::current()) {                \
    emulated::issue({.run = emulated::run_dot<type>,                                           \
                     .sum = d,                                                                 \
                     .columns = n,                                                             \
                     .added = accumulate != 0,                                                 \
                     .a = at_a,                                                                \
                     .b = at_b,                                                                \
                     .a_major = major_a != 0,                                                  \
                     .b_major = major_b != 0,                                                  \
                     .place = place});                                                         \
  }
#define TESSERA_DOT_OF_REGISTERS(name, n, type, numbers, i_a0, i_a1, i_a2, i_a3, i_b, i_added, major_b, ...) \
  inline void name(float* d, const type* part, unsigned long long at_b, int accumulate,                      \
                   const emulated::Place& place = emulated::Place::current()) {                              \
    emulated::Dot dot{.run = emulated::run_dot<type>,                                                        \
                      .sum = d,                                                                              \
                      .columns = n,                                                                          \
                      .added = accumulate != 0,                                                              \
                      .registers = part,                                                                     \
                      .b = at_b,                                                                             \
                      .b_major = major_b != 0,                                                               \
                      .place = place};                                                                       \
    emulated::gather_rows(dot, part);                                                                        \
    emulated::issue(std::move(dot));                                                                         \
  }

inline void fence_dots() {
  emulated::self().fenced_dots = true;
}
inline void commit_dots() {
  emulated::Fiber& f = emulated::self();
  f.dots.push_back(std::exchange(f.open_dots, {}));
  f.fenced_dots = false;
  ++f.committed_dots;
}
/// All but the newest groups have finished, those of the whole warpgroup.
template <int Pending>
void wait_dots(const emulated::Place& place = emulated::Place::current()) {
  emulated::Fiber& f = emulated::self();
  for (; f.dots.size() > Pending; f.dots.erase(f.dots.begin())) {
    for (const emulated::Dot& dot : f.dots.front()) emulated::finish(dot, place);
  }
  const int group = emulated::block.running / emulated::kGroup;
  emulated::Meeting& m = emulated::block.groups[group];
  const unsigned round = emulated::come(m, emulated::kGroup, place);
  emulated::wait_until("their warpgroup", place, [&m, round] { return m.rounds != round; });
  emulated::time_of(f.clock, emulated::agent_of_dots(emulated::block.running)) =
      f.committed_dots - static_cast<unsigned>(f.dots.size());
}

template <int N, typename T>
void pin(T (&)[N]) {}

template <typename T>
void discard(T& any) {
  std::memset(&any, emulated::kUnwritten, sizeof any);
}
inline void discard(bool& any) {
  any = true;
}

template <unsigned High>
unsigned long long descriptor(unsigned low) {
  return static_cast<unsigned long long>(High) << 32 | low;
}
