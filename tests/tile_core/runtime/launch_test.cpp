#include "tile_core/runtime/launch.h"

#include <gtest/gtest.h>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

using Kind = Parameter::Kind;

TensorView matrix(void* data, std::int64_t rows, std::int64_t columns) {
  TensorView view{.data = data, .rank = 2};
  view.sizes = {rows, columns};
  view.strides = {columns, 1};
  return view;
}

KernelText with_grid(std::vector<GridAxis> grid) {
  return {.name = "add_m128_n64", .threads = 128, .grid = std::move(grid)};
}

TEST(Launch, PacksFieldsInTheOrderOfTheRecipe) {
  int memory = 0;
  const TensorView tensors[] = {matrix(nullptr, 3, 5), matrix(&memory, -1, 7)};
  const ScalarValue scalars[] = {ScalarValue::f32(-1.5F), ScalarValue::i64(-2)};
  const KernelText kernel{.name = "k",
                          .parameters = {{Kind::scalar_f32, 0},
                                         {Kind::pointer, 1},
                                         {Kind::size, 0, 1},
                                         {Kind::stride, 1, 0},
                                         {Kind::size, 1, 0},
                                         {Kind::scalar_i64, 1}}};
  ParameterBlock block;
  pack(kernel, tensors, scalars, block);
  ASSERT_EQ(block.count, 6U);
  EXPECT_EQ(block.fields[0], 0xbfc00000U) << "-1.5f in the low 4 bytes";
  EXPECT_EQ(block.fields[1], reinterpret_cast<std::uintptr_t>(&memory));
  EXPECT_EQ(block.fields[2], 5U);
  EXPECT_EQ(block.fields[3], 7U);
  EXPECT_EQ(block.fields[4], static_cast<std::uint64_t>(-1));
  EXPECT_EQ(block.fields[5], static_cast<std::uint64_t>(-2));
}

TEST(Launch, FieldsFollowTheMaps) {
  const TensorView tensors[] = {matrix(nullptr, 3, 5)};
  const TensorMap map{.contiguous = 1, .box = {64, 64}, .swizzle = 128};
  ParameterBlock block;
  pack({.name = "k", .parameters = {{Kind::size, 0, 1}}, .maps = {map, map}}, tensors, {}, block);
  EXPECT_EQ(block.count, 33U);
  EXPECT_EQ(block.fields[32], 5U);
  EXPECT_EQ(block.map(1).data(), block.fields.data() + 16);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.map(1).data()) % 64, 0U);

  const KernelText large{.name = "k", .parameters = {{Kind::size, 0, 1}}, .maps = {32, map}};
  try {
    pack(large, tensors, {}, block);
    ADD_FAILURE() << "packed 4104 bytes";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "internal tessera error: kernel k has 32 maps and 1 parameters, more than 4096 bytes");
  }
}

TEST(Launch, ARecipeThatDoesNotFitTheCallIsOurMistake) {
  const TensorView tensors[] = {matrix(nullptr, 3, 5)};
  const ScalarValue scalars[] = {ScalarValue::i64(1)};
  ParameterBlock block;
  const auto text_of = [&](const Parameter& parameter) -> std::string {
    try {
      pack({.name = "k", .parameters = {parameter}}, tensors, scalars, block);
    } catch (const InternalError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(text_of({Kind::size, 0, 2}),
            "internal tessera error: kernel k asks for dim 2 of tensor 0, which has rank 2");
  EXPECT_EQ(text_of({Kind::pointer, 1}),
            "internal tessera error: kernel k asks for tensor 1, and the call has 1");
  EXPECT_EQ(
      text_of({Kind::scalar_f32, 0}),
      "internal tessera error: kernel k asks for scalar 0, and the call has 1, that one of another type");
  EXPECT_EQ(text_of({Kind::scalar_i64, 1}),
            "internal tessera error: kernel k asks for scalar 1, and the call has 1");
}

TEST(Launch, GridIsTheProductOfTheTilesNeeded) {
  const auto blocks = [](std::int64_t m, std::int64_t n) {
    const TensorView tensors[] = {matrix(nullptr, m, n)};
    return grid_size(with_grid({{0, 0, 128}, {0, 1, 64}}), tensors);
  };
  EXPECT_EQ(blocks(128, 64), 1);
  EXPECT_EQ(blocks(129, 65), 4);
  EXPECT_EQ(blocks(1, 1), 1);
  EXPECT_EQ(blocks(0, 64), 0);
  EXPECT_EQ(blocks(std::int64_t{1} << 62, 0), 0);
  EXPECT_EQ(blocks((std::int64_t{1} << 31) * 128 - 128, 64), (std::int64_t{1} << 31) - 1);
}

TEST(Launch, APersistentGridHasAtMostTheBlocksThatADeviceHolds) {
  KernelText kernel = with_grid({{0, 0, 128}, {0, 1, 64}});
  kernel.persistent = true;
  kernel.blocks = 2;
  const auto blocks = [&](std::int64_t m, int multiprocessors) {
    const TensorView tensors[] = {matrix(nullptr, m, 64)};
    return grid_size(kernel, tensors, {multiprocessors});
  };
  EXPECT_EQ(blocks(0, 132), 0);
  EXPECT_EQ(blocks(1, 132), 1);
  EXPECT_EQ(blocks(128 * 263, 132), 263);
  EXPECT_EQ(blocks(128 * 264, 132), 264);
  EXPECT_EQ(blocks(128 * 265, 132), 264);
  EXPECT_EQ(blocks(128 * 265, 1), 2);
  kernel.persistent = false;
  EXPECT_EQ(blocks(128 * 265, 132), 265);

  kernel.persistent = true;
  kernel.blocks = 0;
  try {
    blocks(1, 132);
    ADD_FAILURE() << "an empty grid would leave the outputs unwritten";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "internal tessera error: kernel add_m128_n64 is persistent, with 0 blocks on each of 132 "
                 "multiprocessors");
  }
}

/// The grid's axes count the tiles of clusters.
TEST(Launch, AGridIsOfWholeClusters) {
  KernelText kernel = with_grid({{0, 0, 256}, {0, 1, 64}});
  kernel.cluster = 2;
  const auto blocks = [&](std::int64_t m, int clusters) {
    const TensorView tensors[] = {matrix(nullptr, m, 64)};
    return grid_size(kernel, tensors, {.multiprocessors = 132, .clusters = clusters});
  };
  EXPECT_EQ(blocks(1, 66), 2);
  EXPECT_EQ(blocks(256 * 100, 66), 200);
  EXPECT_EQ(blocks(256 * ((std::int64_t{1} << 30) - 1), 66), (std::int64_t{1} << 31) - 2);
  EXPECT_THROW(blocks(256 * (std::int64_t{1} << 30), 66), UserError);
  kernel.persistent = true;
  EXPECT_EQ(blocks(256 * 100, 66), 132);
  EXPECT_EQ(blocks(256 * 3, 66), 6);
  try {
    blocks(1, 0);
    ADD_FAILURE() << "an empty grid would leave the outputs unwritten";
  } catch (const InternalError& error) {
    EXPECT_STREQ(
        error.what(),
        "internal tessera error: kernel add_m128_n64 is persistent, and the device holds no cluster of "
        "2 blocks");
  }
}

TEST(Launch, DimLargerThanTheTileThatCoversIt) {
  KernelText kernel = with_grid({});
  kernel.covered = {{0, 1, 1024, "N"}};
  const TensorView fits[] = {matrix(nullptr, 2, 1024)}, exceeds[] = {matrix(nullptr, 2, 1025)};
  check_covered(kernel, fits);
  try {
    check_covered(kernel, exceeds);
    ADD_FAILURE() << "accepted 1025";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "kernel add_m128_n64: one tile of 1024 covers N, but its size is 1025; choose a larger tile, or loop "
        "over the dim");
  }
}

TEST(Launch, GridAboveCudasLimitNamesTheSizes) {
  for (const std::int64_t m : {std::int64_t{1} << 38, std::int64_t{1} << 62}) {
    const TensorView tensors[] = {matrix(nullptr, m, m)};
    try {
      grid_size(with_grid({{0, 0, 128}, {0, 1, 64}}), tensors);
      ADD_FAILURE() << "accepted " << m;
    } catch (const UserError& error) {
      EXPECT_EQ(
          error.what(),
          fmt::format(
              "kernel add_m128_n64: the grid of sizes {0} in tiles of 128 x {0} in tiles of 64 has more than "
              "the 2147483647 blocks that CUDA launches; split the call, or use TESSERA_POLICY=native",
              m));
    }
  }
}

}  // namespace
}  // namespace tessera
