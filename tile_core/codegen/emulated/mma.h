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
