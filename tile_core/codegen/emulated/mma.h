// Twin of device/mma.cuh. PTX ISA, "Matrix Fragments for mma.m16n8k16": in the order of its registers a lane
// holds, of its row lane / 4 and of the one 8 below, columns 2 (lane % 4) and the next of a and, 8 further,
// of a again; of its column lane / 4 the same rows of b; of both rows columns 2 (lane % 4) and the next of d.
// Products are added by fma in the order of k, as the interpreter does.
namespace emulated {

struct Fragments {
  unsigned a[4], b[2];
};

template <typename T>
float element_of(unsigned word, int half) {
  T pair[2];
  set_word(pair, word);
  return convert<float>(pair[half]);
}

}  // namespace emulated

template <typename T>
void multiply(float* d, const unsigned* a, const unsigned* b,
              const emulated::Place& place = emulated::Place::current()) {
  emulated::Fragments mine;
  std::copy(a, a + 4, mine.a);
  std::copy(b, b + 2, mine.b);
  const auto all = emulated::shown_by_lanes(mine, place);
  const int lane = emulated::block().running % emulated::kLanes;
  for (int i = 0; i < 4; ++i) {
    const int row = i / 2, column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < 16; ++k) {
      const int lane_of_k = k % 8 / 2;
      const auto& left = all[static_cast<std::size_t>(lane / 4 * 4 + lane_of_k)];
      const auto& right = all[static_cast<std::size_t>(column * 4 + lane_of_k)];
      d[i] = std::fma(emulated::element_of<T>(left.a[row + k / 8 * 2], k % 2),
                      emulated::element_of<T>(right.b[k / 8], k % 2), d[i]);
    }
  }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k8" of .tf32: a lane holds of its row lane / 4 and of the one 8
// below column lane % 4 of a and, 4 further, of a again; of its column lane / 4 the same rows of b.
namespace emulated {

using Words = std::array<Fragments, kLanes>;  // of all lanes

inline Words shown_words(const unsigned* a, const unsigned* b, const Place& place) {
  Fragments mine;
  std::copy(a, a + 4, mine.a);
  std::copy(b, b + 2, mine.b);
  return shown_by_lanes(mine, place);
}

/// What a dot in TF32 sees of a word.
inline float tf32_in(unsigned word) {
  return bits_as<float>(word & 0xffffe000u);
}

/// Calls `add(sum, left, i, right, j)` for each contracted lane: the lane that holds the factor of the first
/// operand in its word i, and that which holds the second one's in its word j.
template <bool Paired, typename Add>
void for_each_product(float* d, const Add& add) {
  const int lane = block().running % kLanes;
  for (int i = 0; i < 4; ++i) {
    const int row = i / 2, column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < 8; ++k) {
      const int lane_of_k = Paired ? k / 2 : k % 4, half = Paired ? k % 2 : k / 4;
      add(d[i], static_cast<std::size_t>(lane / 4 * 4 + lane_of_k), row + 2 * half,
          static_cast<std::size_t>(column * 4 + lane_of_k), half);
    }
  }
}

}  // namespace emulated

template <bool Paired>
void multiply_tf32(float* d, const unsigned* a, const unsigned* b,
                   const emulated::Place& place = emulated::Place::current()) {
  using emulated::tf32_in;
  const emulated::Words all = emulated::shown_words(a, b, place);
  emulated::for_each_product<Paired>(d, [&](float& sum, std::size_t left, int i, std::size_t right, int j) {
    sum = std::fma(tf32_in(all[left].a[i]), tf32_in(all[right].b[j]), sum);
  });
}

template <bool Paired>
void multiply_tf32x3(float* d, const unsigned* a, const unsigned* a_rests, const unsigned* b,
                     const unsigned* b_rests, const emulated::Place& place = emulated::Place::current()) {
  using emulated::tf32_in;
  const emulated::Words all = emulated::shown_words(a, b, place),
                        rests = emulated::shown_words(a_rests, b_rests, place);
  emulated::for_each_product<Paired>(d, [&](float& sum, std::size_t left, int i, std::size_t right, int j) {
    const float x = tf32_in(all[left].a[i]), y = tf32_in(all[right].b[j]);
    sum = std::fma(tf32_in(rests[left].a[i]), y, sum);
    sum = std::fma(x, tf32_in(rests[right].b[j]), sum);
    sum = std::fma(x, y, sum);
  });
}

template <int Count>
void round_words(unsigned* words) {
  for (int i = 0; i < Count; ++i) words[i] = tf32_word(emulated::bits_as<float>(words[i]));
}
template <int Count>
void split_words(unsigned* words, unsigned* rests) {
  for (int i = 0; i < Count; ++i) {
    const float x = emulated::bits_as<float>(words[i]);
    words[i] = emulated::bits_as<unsigned>(tf32_of(x));
    rests[i] = tf32_word(x - tf32_of(x));
  }
}
inline void take_rows(unsigned* words, const float* from) {
  for (int i = 0; i < 4; ++i) words[i] = emulated::bits_as<unsigned>(from[i % 2 * 2 + i / 2]);
}
