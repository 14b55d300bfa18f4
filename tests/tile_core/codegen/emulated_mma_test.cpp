#include <gtest/gtest.h>

#include "tests/tile_core/codegen/emulated_kernel.h"
#include "tile_core/interpreter/buffer.h"

namespace tessera {
namespace {

// One warp: 16 x 16 by 16 x 8, both from 512 bytes of shared memory each, contiguous along k or along the
// free axis. Matrix i of an operand begins at its element (8 * (i % 2), 8 * (i / 2)) of the first operand,
// and (8 * (i / 2), 8 * (i % 2)) of the second.
const char* const kBody = R"(
struct Parameters {
  float* data_out;
  int64 scalar_form;
};
inline float left(int m, int k) { return float((m * 7 + k * 3) % 11 - 5); }
inline float right(int n, int k) { return float((n * 5 + k * 2) % 13 - 6); }

template <typename T, bool Transposed>
void run(const Parameters& p, unsigned char* shared) {
  T* const a = reinterpret_cast<T*>(shared), *const b = reinterpret_cast<T*>(shared + 512);
  const int lane = thread_index();
  for (int i = lane; i < 256; i += 32) {
    const int free = i / 16, k = i % 16, at = Transposed ? k * 16 + free : i;
    const T x[2] = {convert<T>(left(free, k)), convert<T>(right(free, k))};
    write_shared<1>(a + at, x);
    write_shared<1>(b + at, x + 1);
  }
  barrier();
  unsigned rows[4], columns[4];
  const int near = lane % 16 * 32 + lane / 16 * 16, far = (lane % 8 + lane / 16 * 8) * 32 + lane / 8 % 2 * 16;
  read_words<4, Transposed>(rows, shared_address(shared) + (Transposed ? far : near));
  read_words<4, Transposed>(columns, shared_address(shared) + 512 + (Transposed ? near : far));
  float d[8];
  for (float& x : d) x = 100;
  for (int i = 0; i < 2; ++i) multiply<T>(d + 4 * i, rows, columns + 2 * i);
  for (int i = 0; i < 8; ++i)
    store_global<1>(p.data_out + (lane / 4 + i / 2 % 2 * 8) * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2, d + i, true);
}

// Of f32: 16 x 16 by 16 x 16, from 2 KiB of shared memory each, in lines of 128 bytes. A step is 8 lanes of k.
template <bool Transposed, bool Paired>
void run_tf32(const Parameters& p, unsigned char* shared) {
  const auto at = [](int free, int k) {
    return Transposed ? swizzled<128>(k * 128 + free * 4) : swizzled<128>(free * 128 + k * 4);
  };
  const int lane = thread_index();
  for (int i = lane; i < 256; i += 32) {
    const int free = i / 16, k = i % 16;
    const float x[2] = {left(free, k), right(free, k)};
    write_shared<1>(reinterpret_cast<float*>(shared + at(free, k)), x);
    write_shared<1>(reinterpret_cast<float*>(shared + 2048 + at(free, k)), x + 1);
  }
  barrier();
  float d[8];
  for (float& x : d) x = 100;
  for (int k = 0; k < 16; k += 8) {
    unsigned rows[4], columns[4], rests[4], column_rests[4];
    const unsigned base = shared_address(shared);
    if (Paired) {
      const int pair = k + lane % 4 * 2, line = lane / 4;
      read_pairs<128, Transposed, true>(rows, base + at(line, pair));
      read_pairs<128, Transposed, false>(columns, base + 2048 + at(line, pair));
    } else {
      read_words<4, false>(rows, base + at(lane % 16, k + lane / 16 * 4));
      read_words<4, false>(columns, base + 2048 + at(lane % 8 + lane / 16 * 8, k + lane / 8 % 2 * 4));
    }
    split_words<4>(rows, rests);
    split_words<4>(columns, column_rests);
    for (int i = 0; i < 2; ++i) {
      if (Transposed) multiply_tf32<Paired>(d + 4 * i, rows, columns + 2 * i);
      else multiply_tf32x3<Paired>(d + 4 * i, rows, rests, columns + 2 * i, column_rests + 2 * i);
    }
  }
  for (int i = 0; i < 8; ++i)
    store_global<1>(p.data_out + (lane / 4 + i / 2 % 2 * 8) * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2, d + i, true);
}

TESSERA_KERNEL(products, 32, 1) {
  TESSERA_SHARED(shared);
  if (p.scalar_form == 0) run<bf16, false>(p, shared);
  if (p.scalar_form == 1) run<f16, true>(p, shared);
  if (p.scalar_form == 2) run_tf32<false, false>(p, shared);
  if (p.scalar_form == 3) run_tf32<false, true>(p, shared);
  if (p.scalar_form == 4) run_tf32<true, true>(p, shared);
}
)";

KernelText kernel() {
  using Kind = Parameter::Kind;
  return {.name = "products",
          .text = kBody,
          .threads = 32,
          .shared_bytes = 4096,
          .parameters = {{Kind::pointer, 0}, {Kind::scalar_i64, 0}},
          .grid = {{0, 0, 16}}};
}

TEST(EmulatedMma, IsTheProductOfWhatTheLanesHold) {
  std::vector<double> expected;
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 16; ++n) {
      double sum = 100;
      for (int k = 0; k < 16; ++k) sum += ((m * 7 + k * 3) % 11 - 5) * ((n * 5 + k * 2) % 13 - 6);
      expected.push_back(sum);
    }
  }
  for (double form : {0.0, 1.0, 2.0, 3.0, 4.0}) {
    Buffer out(f32, {16, 16});
    EXPECT_EQ(test::both(kernel(), {out.view()}, {form}), "right");
    EXPECT_EQ(out.get(), expected) << form;
  }
}

}  // namespace
}  // namespace tessera
