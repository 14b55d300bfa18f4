#include <gtest/gtest.h>

#include "tests/tile_core/codegen/emulated_kernel.h"

namespace tessera {
namespace {

// One warpgroup. a has 64 lines at byte 0, b has n at byte 8192; `step` tells which 16 of the atom's values
// of k a K-major operand has.
const char* const kBody = R"(
struct Parameters {
  float* data_out;
  int64 scalar_what;
};
TESSERA_DOT_OF_SLOTS(dot_8, 8, bf16, "", 0, 0, 0, 0, 0)
TESSERA_DOT_OF_SLOTS(dot_8_a, 8, f16, "", 0, 0, 0, 1, 0)
TESSERA_DOT_OF_SLOTS(dot_96_b, 96, bf16, "", 0, 0, 0, 0, 1)
TESSERA_DOT_OF_SLOTS(dot_128_ab, 128, f16, "", 0, 0, 0, 1, 1)
TESSERA_DOT_OF_REGISTERS(dot_24_of, 24, bf16, "", 0, 0, 0, 0, 0, 0, 0)
TESSERA_DOT_OF_REGISTERS(dot_64_of_b, 64, f16, "", 0, 0, 0, 0, 0, 0, 1)

inline float left(int line, int k) { return float((line * 7 + k * 3) % 11 - 5); }
inline float right(int line, int k) { return float((line * 5 + k * 2) % 13 - 6); }

template <typename T, int Width, bool Major>
void fill(T* slot, int lines, int step, float (*value)(int, int)) {
  for (int i = thread_index(); i < lines * 16; i += 128) {
    const int line = i / 16, k = i % 16, across = Major ? line : k + 16 * step, down = Major ? k : line;
    const int atom = (Major ? 16 : lines) * Width;
    T x[1] = {convert<T>(value(line, k))};
    write_shared<1>(slot + (across * 2 / Width * atom + swizzled<Width>(down * Width + across * 2 % Width)) / 2, x);
  }
}

template <int Width, bool Major>
unsigned long long describe(const void* slot, int step) {
  constexpr unsigned kMode = Width == 128 ? 1 : Width == 64 ? 2 : 3, kHigh = 8 * Width / 16 | kMode << 30;
  const unsigned start = shared_address(slot) / 16;
  return descriptor<kHigh>(Major ? start | 16 * Width / 16 << 16 : start + 2 * step);
}

template <typename T, int Width, int N, bool AMajor, bool BMajor, typename Dot>
void of_slots(const Parameters& p, unsigned char* shared, int step, const Dot& dot) {
  T* const a = reinterpret_cast<T*>(shared), *const b = reinterpret_cast<T*>(shared + 8192);
  fill<T, Width, AMajor>(a, 64, step, left);
  fill<T, Width, BMajor>(b, N, step, right);
  float d[N / 2];
  for (float& x : d) x = 100;
  fence_shared();
  barrier();
  fence_dots();
  dot(d, describe<Width, AMajor>(a, step), describe<Width, BMajor>(b, step), 1);
  dot(d, describe<Width, AMajor>(a, step), describe<Width, BMajor>(b, step), 1);
  commit_dots();
  wait_dots<0>();
  for (int i = 0; i < N / 2; ++i) store_global<1>(p.data_out + thread_index() * (N / 2) + i, d + i, true);
}

template <typename T, int Width, int N, bool BMajor, typename Dot>
void of_registers(const Parameters& p, unsigned char* shared, const Dot& dot) {
  T* const b = reinterpret_cast<T*>(shared + 8192);
  fill<T, Width, BMajor>(b, N, 0, right);
  const int lane = thread_index() % 32, warp = thread_index() / 32;
  T part[8];
  for (int i = 0; i < 8; ++i) part[i] = convert<T>(left(warp * 16 + lane / 4 + i / 2 % 2 * 8, lane % 4 * 2 + i % 2 + i / 4 * 8));
  float d[N / 2];
  fence_shared();
  barrier();
  fence_dots();
  dot(d, part, describe<Width, BMajor>(b, 0), 0);
  commit_dots();
  wait_dots<0>();
  for (int i = 0; i < N / 2; ++i) store_global<1>(p.data_out + thread_index() * (N / 2) + i, d + i, true);
}

/// With what == 10 to 17 one thing is wrong.
void wrong(int what, unsigned char* shared) {
  bf16* const b = reinterpret_cast<bf16*>(shared + 8192);
  bf16 part[8] = {}, zero[1] = {};
  float d[12] = {};
  fill<bf16, 32, false>(b, 24, 0, right);
#line 1 "wrong"
  if (what != 10) fence_shared();
  barrier();
  if (what != 11) fence_dots();
  dot_24_of(d, part, describe<32, false>(b, 0) + (what == 12 ? 2 : what == 13 ? 1ull << 49 : 0), 1);
  if (what == 14) d[11] = 1;
  if (what == 15) part[7].bits = 1;
  if (what == 16) barrier();
  if (what == 16) write_shared<1>(b + thread_index(), zero);
  if (what != 17) commit_dots();
  if (what != 18) wait_dots<0>();
}

TESSERA_KERNEL(dots, 128, 1) {
  TESSERA_SHARED(shared);
  const int what = static_cast<int>(p.scalar_what);
  if (what == 0) of_slots<bf16, 32, 8, false, false>(p, shared, 0, [](auto... x) { dot_8(x...); });
  if (what == 1) of_slots<bf16, 64, 8, false, false>(p, shared, 1, [](auto... x) { dot_8(x...); });
  if (what == 2) of_slots<bf16, 128, 8, false, false>(p, shared, 3, [](auto... x) { dot_8(x...); });
  if (what == 3) of_slots<f16, 128, 8, true, false>(p, shared, 0, [](auto... x) { dot_8_a(x...); });
  if (what == 4) of_slots<bf16, 64, 96, false, true>(p, shared, 0, [](auto... x) { dot_96_b(x...); });
  if (what == 5) of_slots<f16, 128, 128, true, true>(p, shared, 0, [](auto... x) { dot_128_ab(x...); });
  if (what == 6) of_slots<f16, 32, 128, true, true>(p, shared, 0, [](auto... x) { dot_128_ab(x...); });
  if (what == 7) of_registers<bf16, 128, 24, false>(p, shared, [](auto... x) { dot_24_of(x...); });
  if (what == 8) of_registers<f16, 64, 64, true>(p, shared, [](auto... x) { dot_64_of_b(x...); });
  if (what >= 10) wrong(what, shared);
}
)";

struct Variant {
  int what;
  int columns;
  bool registers;
};

class EmulatedDots : public ::testing::Test {
 protected:
  std::string run(int what, Landing landing = Landing::last) {
    return test::complaint(kernel_, {view_}, {static_cast<double>(what)}, landing);
  }

  static int left(int line, int k) { return (line * 7 + k * 3) % 11 - 5; }
  static int right(int line, int k) { return (line * 5 + k * 2) % 13 - 6; }
  static int product(int row, int column) {
    int sum = 0;
    for (int k = 0; k < 16; ++k) sum += left(row, k) * right(column, k);
    return sum;
  }

  float out_[64 * 128] = {};
  TensorView view_{.data = out_, .dtype = f32, .rank = 1, .sizes = {64 * 128}, .strides = {1}};
  KernelText kernel_{.name = "dots",
                     .text = kBody,
                     .threads = 128,
                     .shared_bytes = 8192 + 128 * 128,
                     .parameters = {{Parameter::Kind::pointer, 0}, {Parameter::Kind::scalar_i64, 0}},
                     .grid = {{0, 0, 64 * 128}}};
};

TEST_F(EmulatedDots, MultiplyEveryKindOfOperand) {
  for (Landing landing : {Landing::last, Landing::first}) {
    for (Variant v : {Variant{0, 8, false}, Variant{1, 8, false}, Variant{2, 8, false}, Variant{3, 8, false},
                      Variant{4, 96, false}, Variant{5, 128, false}, Variant{6, 128, false},
                      Variant{7, 24, true}, Variant{8, 64, true}}) {
      ASSERT_EQ(run(v.what, landing), "right");
      for (int thread = 0; thread < 128; ++thread) {
        for (int i = 0; i < v.columns / 2; ++i) {
          int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
          int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
          int expected = v.registers ? product(row, column) : 100 + 2 * product(row, column);
          ASSERT_EQ(out_[thread * (v.columns / 2) + i], expected) << v.what << ": " << row << ", " << column;
        }
      }
    }
  }
}

TEST_F(EmulatedDots, FindsOperandsThatAreNotThere) {
  EXPECT_EQ(run(10),
            "thread 30 of block 0 has the async proxy read byte 8336 of shared memory, which thread 64 has "
            "written, with no fence between   --> wrong:4");
  EXPECT_EQ(
      run(12),
      "thread 30 of block 0 issues a dot on an operand at 9248, which is not the first row of a pattern "
      "of 256 bytes   --> wrong:4");
  EXPECT_EQ(run(13),
            "thread 30 of block 0 issues a dot with descriptor c002001000000240, which is not of a swizzled "
            "operand   --> wrong:4");
  EXPECT_EQ(run(16),
            "thread 124 of block 0 writes byte 8440 of shared memory, which a dot of warpgroup 0 has read, "
            "with no barrier between   --> wrong:8");
}

TEST_F(EmulatedDots, FindsRegistersThatAreTouchedInFlight) {
  EXPECT_EQ(run(14),
            "thread 30 of block 0 waits for the dot of line 4, whose accumulator has changed   --> wrong:10");
  EXPECT_EQ(run(15),
            "thread 30 of block 0 waits for the dot of line 4, whose operand in registers has changed   --> "
            "wrong:10");
}

TEST_F(EmulatedDots, FindsGroupsThatAreNotFencedCommittedOrWaitedFor) {
  EXPECT_EQ(run(11),
            "thread 30 of block 0 issues a dot, and no fence stands before the first of its group   --> "
            "wrong:4");
  EXPECT_EQ(run(17), "thread 124 of block 0 ends with dots that no wait covers   --> :0");
  EXPECT_EQ(run(18), "thread 30 of block 0 ends with dots that no wait covers   --> :0");
}

// Fragments of 16 x 16 in 16 rows of 32 bytes, and 16 columns; `seen` is what shared memory holds.
const char* const kMatrices = R"(
struct Parameters {
  f16* data_seen;
  f16* data_back;
  int64 scalar_transposed;
};
TESSERA_KERNEL(matrices, 32, 1) {
  TESSERA_SHARED(shared);
  const int lane = thread_index();
  const unsigned at = shared_address(shared) + lane % 16 * 32 + lane / 16 * 16;
  const unsigned across = shared_address(shared) + (lane / 16 * 8 + lane % 8) * 32 + lane / 8 % 2 * 16;
  f16 part[8], back[8], one[1];
#line 1 "matrices"
  for (int i = 0; i < 8; ++i) part[i].bits = static_cast<unsigned short>((lane / 4 + i / 2 % 2 * 8) * 16 + lane % 4 * 2 + i % 2 + i / 4 * 8);
  if (p.scalar_transposed == 0) write_matrices<4, false>(at, part);
  if (p.scalar_transposed == 1) write_matrices<4, true>(across, part);
  if (p.scalar_transposed == 2) { write_matrices<2, false>(at, part); write_matrices<2, false>(at + 16, part + 4); }
  barrier();
  if (p.scalar_transposed == 0) read_matrices<4, false>(back, at);
  if (p.scalar_transposed == 1) read_matrices<4, true>(back, across);
  if (p.scalar_transposed == 2) { read_matrices<2, false>(back, at); read_matrices<2, false>(back + 4, at + 16); }
  if (p.scalar_transposed == 3) read_matrices<2, false>(back, at + 2);
  store_global<8>(p.data_back + 8 * lane, back, true);
  for (int i = lane; i < 256; i += 32) { read_shared<1>(one, reinterpret_cast<f16*>(shared) + i); store_global<1>(p.data_seen + i, one, true); }
}
)";

TEST(EmulatedMatrices, StandInRowsOrColumns) {
  alignas(16) std::uint16_t seen[256];
  alignas(16) std::uint16_t back[256];
  TensorView view{.data = seen, .dtype = f16, .rank = 1, .sizes = {256}, .strides = {1}};
  TensorView other = view;
  other.data = back;
  KernelText kernel{.name = "matrices",
                    .text = kMatrices,
                    .threads = 32,
                    .shared_bytes = 512,
                    .parameters = {{Parameter::Kind::pointer, 0},
                                   {Parameter::Kind::pointer, 1},
                                   {Parameter::Kind::scalar_i64, 0}},
                    .grid = {{0, 0, 256}}};
  for (int transposed : {0, 1, 2}) {
    ASSERT_EQ(test::both(kernel, {view, other}, {double(transposed)}), "right");
    for (int i = 0; i < 256; ++i) {
      int element = transposed == 1 ? i % 16 * 16 + i / 16 : i;
      ASSERT_EQ(seen[i], element) << transposed;
      int lane = i / 8;
      ASSERT_EQ(back[i], (lane / 4 + i / 2 % 2 * 8) * 16 + lane % 4 * 2 + i % 2 + i / 4 % 2 * 8)
          << transposed;
    }
  }
  EXPECT_EQ(test::complaint(kernel, {view, other}, {3}),
            "thread 30 of block 0 moves a row of a matrix at 1250, which is not a multiple of 16   --> "
            "matrices:9");
}

}  // namespace
}  // namespace tessera
