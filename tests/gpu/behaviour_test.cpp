#include <cmath>
#include <limits>

#include "tessera/ops.h"
#include "tests/gpu/gpu.h"

/// Public bug cases that need a device, by their number in the collection.
namespace tessera::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr at::ScalarType kDtypes[] = {at::kFloat, at::kHalf, at::kBFloat16};

at::TensorOptions cuda(at::ScalarType dtype) {
  return at::device(at::kCUDA).dtype(dtype);
}

at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool causal = false) {
  return tessera::scaled_dot_product_attention(q, k, v, {}, 0, causal, {}, q.size(1) != k.size(1));
}

void expect_close(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_TRUE(at::allclose(a.to(at::kDouble), b.to(at::kDouble), tolerance, tolerance));
}

TEST(PublicBugs, B01KeyTailIsNotCounted) {
  TESSERA_NEEDS_GPU();
  for (at::ScalarType dtype : kDtypes) {
    for (int64_t keys : {1, 7, 15, 17, 31, 33, 63, 65, 100, 127, 129, 255, 257}) {
      at::Tensor q = at::zeros({1, 2, 4, 64}, cuda(dtype)), k = normal({1, 2, keys, 64}, dtype, 1),
                 v = normal({1, 2, keys, 64}, dtype, 2);
      expect_close(attend(q, k, v), v.to(at::kDouble).mean(2, true).expand({1, 2, 4, 64}),
                   dtype == at::kFloat ? 1e-5 : 8e-3);
      EXPECT_TRUE(attend(q, k, at::ones_like(v)).eq(1).all().item<bool>());
    }
  }
}

TEST(PublicBugs, B05_B07_TinyShapes) {
  TESSERA_NEEDS_GPU();
  at::Tensor v = normal({4, 32, 1, 128}, at::kHalf, 3);
  expect_same_bits(attend(normal({4, 32, 1, 128}, at::kHalf, 1), normal({4, 32, 1, 128}, at::kHalf, 2), v),
                   v);
  for (int64_t n = 1; n <= 16; ++n) {
    at::Tensor x = normal({n, n}, at::kFloat, 4), w = normal({n, n}, at::kFloat, 5);
    expect_close(tessera::linear_gelu(x, w), at::gelu(at::linear(x.to(at::kDouble), w.to(at::kDouble))),
                 1e-5);
  }
}

TEST(PublicBugs, B08ShortRows) {
  TESSERA_NEEDS_GPU();
  for (at::ScalarType dtype : kDtypes) {
    for (int64_t n = 1; n <= 140; ++n) {
      at::Tensor x = normal({3, n}, dtype, static_cast<std::uint64_t>(n));
      expect_close(tessera::softmax(x, -1), at::softmax(x.to(at::kDouble), -1),
                   dtype == at::kFloat ? 1e-6 : 4e-3);
    }
  }
}

TEST(PublicBugs, B10ManyBatchesAndHeads) {
  TESSERA_NEEDS_GPU();
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{65536, 1, 4, 16}, {1, 65536, 10, 16}, {70000, 2, 2, 8}}) {
    at::Tensor q = normal(shape, at::kHalf, 1), k = normal(shape, at::kHalf, 2),
               v = normal(shape, at::kHalf, 3), o = attend(q, k, v);
    for (int64_t b : {int64_t{0}, shape[0] - 1}) {
      expect_same_bits(o.slice(0, b, b + 1),
                       attend(q.slice(0, b, b + 1), k.slice(0, b, b + 1), v.slice(0, b, b + 1)));
    }
  }
}

TEST(PublicBugs, B13ChunksAndPackedViews) {
  TESSERA_NEEDS_GPU();
  for (at::ScalarType dtype : kDtypes) {
    at::Tensor wide = normal({3, 7, 80}, dtype, 1), w = normal({24, 40}, dtype, 2);
    for (const at::Tensor& x : wide.chunk(2, -1)) {
      expect_same_bits(tessera::softmax(x, -1), tessera::softmax(x.contiguous(), -1));
      expect_close(tessera::linear_gelu(x, w), tessera::linear_gelu(x.contiguous(), w), 1e-6);
    }
    auto qkv = normal({2, 33, 3, 4, 64}, dtype, 3)
                   .transpose(1, 3)
                   .unbind(2);  // [B, H, S, D] views of one projection
    at::Tensor o = attend(qkv[0], qkv[1], qkv[2]);
    expect_same_bits(o, attend(qkv[0].contiguous(), qkv[1].contiguous(), qkv[2].contiguous()));
    EXPECT_TRUE(o.transpose(1, 2).is_contiguous()) << "the output keeps the query's dimension order";
  }
}

TEST(PublicBugs, B20_B21_UnalignedPointersAndStrides) {
  TESSERA_NEEDS_GPU();
  for (at::ScalarType dtype : kDtypes) {
    auto shifted = [](const at::Tensor& t) {
      return at::cat({t.flatten().slice(0, 0, 1), t.flatten()}).slice(0, 1).view(t.sizes());
    };
    // Of 16 bits, aligned operands go to the tensor cores, whose sums have another order: an ulp of the
    // result.
    const double ulp = dtype == at::kFloat ? 1e-6 : dtype == at::kHalf ? 0x1p-9 : 0x1p-6;
    at::Tensor x = normal({9, 64}, dtype, 1), w = normal({64, 64}, dtype, 2), b = normal({64}, dtype, 3);
    for (int i = 0; i < 2; ++i) {
      expect_close(tessera::linear_gelu(shifted(x), shifted(w), shifted(b)), tessera::linear_gelu(x, w, b),
                   ulp);
      expect_close(tessera::softmax(shifted(x), -1), tessera::softmax(x, -1), 1e-6);
      expect_same_bits(tessera::add(shifted(x), x), tessera::add(x, x));
    }
    at::Tensor buffer = normal({3, 2, 2, 30, 43}, dtype, 4).slice(-1, 0, 40);
    expect_close(attend(buffer[0], buffer[1], buffer[2]),
                 attend(buffer[0].contiguous(), buffer[1].contiguous(), buffer[2].contiguous()), ulp);
    at::Tensor strided_weight = normal({16, 43}, dtype, 5).slice(1, 1, 42), input = normal({5, 41}, dtype, 6);
    expect_close(tessera::linear(input, strided_weight), tessera::linear(input, strided_weight.contiguous()),
                 ulp);
  }
}

TEST(PublicBugs, B22BiasAlongColumns) {
  TESSERA_NEEDS_GPU();
  at::Tensor b = at::arange(8, cuda(at::kFloat));
  at::Tensor y = tessera::linear_gelu(at::eye(8, cuda(at::kFloat)), at::zeros({8, 8}, cuda(at::kFloat)), b);
  expect_close(y, at::gelu(b.to(at::kDouble)).expand({8, 8}), 1e-6);
}

TEST(PublicBugs, B25_B26_B27_GeluAtItsEnds) {
  TESSERA_NEEDS_GPU();
  auto gelu = [](std::vector<double> x, const char* approximate, at::ScalarType dtype) {
    at::Tensor column = at::tensor(x, at::kDouble).to(cuda(dtype)).unsqueeze(1);
    return tessera::linear_gelu(column, at::ones({1, 1}, cuda(dtype)), {}, approximate)
        .to(at::kDouble)
        .cpu()
        .flatten();
  };
  for (const char* approximate : {"none", "tanh"}) {
    EXPECT_EQ(gelu({kInf}, approximate, at::kFloat)[0].item<double>(), kInf);
    EXPECT_TRUE(std::isnan(gelu({NAN}, approximate, at::kFloat)[0].item<double>()));
    for (double x : {10.0, 13.25, 50.0, 88.0, 1e4, 1e30}) {
      EXPECT_EQ(gelu({x}, approximate, at::kFloat)[0].item<double>(),
                static_cast<double>(static_cast<float>(x)));
      double tail = gelu({-x}, approximate, at::kFloat)[0].item<double>();
      EXPECT_LE(tail, 0);
      EXPECT_GE(tail, -1e-20);
    }
  }
  at::Tensor exact = gelu({-3, -4, -5}, "none", at::kFloat), tanh = gelu({-3, -4, -5}, "tanh", at::kFloat);
  const double want_exact[] = {-4.0496941e-3, -1.2668497e-4, -1.4332579e-6},
               want_tanh[] = {-3.6373921e-3, -7.0245948e-5, -2.2917962e-7};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(exact[i].item<double>() / want_exact[i], 1, 1e-3);
    EXPECT_NEAR(tanh[i].item<double>() / want_tanh[i], 1, 1e-3);
  }
}

TEST(PublicBugs, B29SumsDoNotSaturate) {
  TESSERA_NEEDS_GPU();
  EXPECT_TRUE(
      tessera::softmax(at::zeros({1, 4096}, cuda(at::kHalf)), -1).eq(std::ldexp(1, -12)).all().item<bool>());
  EXPECT_TRUE(tessera::softmax(at::zeros({1, 512}, cuda(at::kBFloat16)), -1)
                  .eq(std::ldexp(1, -9))
                  .all()
                  .item<bool>());
  for (at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
    for (int64_t dim : {0, 1}) {
      at::Tensor x =
          at::zeros(dim == 0 ? std::vector<int64_t>{32768, 2} : std::vector<int64_t>{2, 32768}, cuda(dtype));
      EXPECT_TRUE(tessera::softmax(x, dim).eq(std::ldexp(1, -15)).all().item<bool>());
    }
  }
}

TEST(PublicBugs, B31NoTf32UnlessAllowed) {
  TESSERA_NEEDS_GPU();
  at::Tensor x = at::full({4, 16}, 1 + std::ldexp(1, -12), cuda(at::kFloat)),
             w = at::ones({4, 16}, cuda(at::kFloat));
  EXPECT_TRUE(tessera::linear(x, w).eq(16.00390625).all().item<bool>());
  at::Tensor q = normal({1, 1, 5, 16}, at::kFloat, 1),
             v = at::full({1, 1, 5, 16}, 1 + std::ldexp(1, -12), cuda(at::kFloat));
  expect_close(attend(q, q, v), v, 1e-6);
}

TEST(PublicBugs, B32LargeEqualScores) {
  TESSERA_NEEDS_GPU();
  for (bool causal : {false, true}) {
    at::Tensor q = at::full({1, 2, 33, 64}, 300, cuda(at::kHalf)), v = normal({1, 2, 33, 64}, at::kHalf, 1);
    at::Tensor want = v.to(at::kDouble).cumsum(2) / at::arange(1, 34, cuda(at::kDouble)).view({33, 1});
    expect_close(attend(q, q, v, causal), causal ? want : v.to(at::kDouble).mean(2, true).expand_as(v), 2e-3);
  }
}

TEST(PublicBugs, B35_B36_B37_InfinitiesStayInTheirRow) {
  TESSERA_NEEDS_GPU();
  for (at::ScalarType dtype : {at::kFloat, at::kHalf}) {
    for (int64_t p : {0, 1, 127, 128, 50000, 99999}) {
      at::Tensor x = at::full({1, 100000}, -kInf, cuda(dtype));
      x[0][p] = 10;
      at::Tensor y = tessera::softmax(x, -1);
      EXPECT_EQ(y[0][p].item<double>(), 1);
      EXPECT_EQ(y.to(at::kDouble).sum().item<double>(), 1);
    }
  }
  for (int64_t n : {5, 64, 65, 4096}) {
    for (double special : {-kInf, kInf}) {
      at::Tensor x = normal({64, n}, at::kFloat, 1), clean = tessera::softmax(x, -1);
      special < 0 ? x[30].fill_(special) : x[30][n / 2].fill_(special);
      at::Tensor y = tessera::softmax(x, -1);
      EXPECT_TRUE(at::isnan(y[30]).all().item<bool>());
      y[30] = clean[30];
      expect_same_bits(y, clean);
      expect_close(tessera::softmax(x.t().contiguous(), 0).t().slice(0, 0, 30), clean.slice(0, 0, 30), 1e-6);
    }
  }
}

TEST(PublicBugs, B39LargeCommonOffset) {
  TESSERA_NEEDS_GPU();
  for (double offset : {-20000.0, 60000.0}) {
    at::Tensor x = (normal({18, 1, 2, 2, 21, 2}, at::kFloat, 1) * 100 + offset).to(at::kHalf);
    expect_close(tessera::softmax(x, 2), at::softmax(x.to(at::kDouble), 2), 2e-3);
  }
}

TEST(PublicBugs, B41NanBehindTheLastKey) {
  TESSERA_NEEDS_GPU();
  for (at::ScalarType dtype : kDtypes) {
    at::Tensor buffer = normal({3, 1, 2, 64, 64}, dtype, 1);
    buffer.slice(3, 33).fill_(NAN);
    at::Tensor part = buffer.slice(3, 0, 33), clean = part.contiguous();
    expect_same_bits(attend(part[0], part[1], part[2]), attend(clean[0], clean[1], clean[2]));
  }
}

TEST(PublicBugs, B43_B45_CausalIsTopLeft) {
  TESSERA_NEEDS_GPU();
  const int64_t shapes[][2] = {{3, 128}, {2, 5}, {5, 2}, {1, 16}, {64, 65}, {130, 3}};
  for (auto [rows, keys] : shapes) {
    at::Tensor q = at::zeros({1, 1, rows, 16}, cuda(at::kFloat)), k = normal({1, 1, keys, 16}, at::kFloat, 1);
    at::Tensor v = at::arange(keys, cuda(at::kFloat)).view({1, 1, keys, 1}).expand({1, 1, keys, 16});
    at::Tensor want = at::clamp_max(at::arange(rows, cuda(at::kFloat)), keys - 1)
                          .view({1, 1, rows, 1})
                          .expand({1, 1, rows, 16}) /
                      2;
    expect_close(attend(q, k, v, true), want, 1e-5);
    auto [bottom, lse] = tessera::flash_attention(q, k, v, true, keys - rows);
    for (int64_t i = 0; i < rows; ++i) {
      double seen = static_cast<double>(std::max<int64_t>(keys - rows + i + 1, 0));
      EXPECT_NEAR(bottom[0][0][i][0].item<double>(), seen > 0 ? (seen - 1) / 2 : 0, 1e-4);
      EXPECT_NEAR(std::exp(lse[0][0][i].item<double>()), seen, 1e-3);
    }
  }
}

TEST(PublicBugs, B48LogsumexpIsNatural) {
  TESSERA_NEEDS_GPU();
  at::Tensor q = at::zeros({1, 1, 1, 16}, cuda(at::kFloat)), k = at::zeros({1, 1, 8, 16}, cuda(at::kFloat));
  EXPECT_NEAR(std::get<1>(tessera::flash_attention(q, k, k)).item<double>(), 2.0794415, 1e-6);
}

TEST(PublicBugs, B49RowsThatSeeNothing) {
  TESSERA_NEEDS_GPU();
  at::Tensor q = normal({1, 2, 8, 16}, at::kFloat, 1), mask = at::ones({8, 8}, cuda(at::kBool));
  mask[3].fill_(false);
  at::Tensor o = tessera::scaled_dot_product_attention(q, q, q, mask), clean = attend(q, q, q);
  EXPECT_TRUE(o.select(2, 3).eq(0).all().item<bool>());
  expect_close(o.slice(2, 4), clean.slice(2, 4), 1e-6);
}

TEST(PublicBugs, B51_B53_GroupsOfHeads) {
  TESSERA_NEEDS_GPU();
  const int64_t heads[][2] = {{4, 2}, {8, 2}, {28, 4}, {12, 12}, {6, 1}, {8, 1}};
  for (auto [H, G] : heads) {
    at::Tensor q = normal({1, H, 5, 16}, at::kHalf, 1), k = normal({1, G, 5, 16}, at::kHalf, 2);
    at::Tensor v = at::arange(G, cuda(at::kHalf)).view({1, G, 1, 1}).expand({1, G, 5, 16});
    at::Tensor o = attend(q, k, v);
    for (int64_t h = 0; h < H; ++h)
      EXPECT_TRUE(o[0][h].eq(static_cast<double>(h * G / H)).all().item<bool>());
  }
}

TEST(PublicBugs, B60SoftmaxPast2To31) {
  TESSERA_NEEDS_GPU();
  TESSERA_NEEDS_MEMORY(10);
  for (int64_t rows : {4194304, 4194305}) {
    at::Tensor y = tessera::softmax(at::zeros({rows, 512}, cuda(at::kHalf)), -1);
    EXPECT_TRUE(y.slice(0, rows - 1000).eq(std::ldexp(1, -9)).all().item<bool>());
    EXPECT_TRUE(y.slice(0, 0, 1000).eq(std::ldexp(1, -9)).all().item<bool>());
  }
}

TEST(PublicBugs, B60SoftmaxOfShortRowsPast2To31) {
  TESSERA_NEEDS_GPU();
  TESSERA_NEEDS_MEMORY(20);
  const at::Tensor y = tessera::softmax(at::zeros({268435457, 9}, cuda(at::kFloat)), 1);
  for (const at::Tensor& rows : {y.slice(0, 0, 1000), y.slice(0, 268434457)})
    expect_close(rows, at::full({1000, 9}, 1.0 / 9, cuda(at::kFloat)), 1e-7);
}

TEST(PublicBugs, B62HugeRowStride) {
  TESSERA_NEEDS_GPU();
  TESSERA_NEEDS_MEMORY(6);
  at::Tensor x = at::empty({61700, 34816}, cuda(at::kHalf)).slice(1, 0, 16);
  x.copy_(normal({61700, 16}, at::kHalf, 1));
  at::Tensor w = normal({8, 16}, at::kHalf, 2);
  expect_close(tessera::linear_gelu(x, w), tessera::linear_gelu(x.contiguous(), w), 1e-6);
  expect_close(tessera::softmax(x, -1), tessera::softmax(x.contiguous(), -1), 1e-6);
}

TEST(PublicBugs, B64AttentionPast2To31) {
  TESSERA_NEEDS_GPU();
  TESSERA_NEEDS_MEMORY(20);
  at::Tensor q = at::randn({130, 32, 4096, 128}, cuda(at::kHalf)),
             k = normal({130, 32, 64, 128}, at::kHalf, 1);
  at::Tensor o = attend(q, k, k);
  for (int64_t b : {0, 129})
    expect_same_bits(o[b], attend(q.slice(0, b, b + 1), k.slice(0, b, b + 1), k.slice(0, b, b + 1))[0]);
}

TEST(PublicBugs, B65_B67_B69_B70_Empty) {
  TESSERA_NEEDS_GPU();
  at::Tensor none =
      attend(at::empty({0, 10, 39, 64}, cuda(at::kHalf)), at::empty({0, 10, 16, 64}, cuda(at::kHalf)),
             at::empty({0, 10, 16, 64}, cuda(at::kHalf)));
  EXPECT_EQ(none.sizes(), (std::vector<int64_t>{0, 10, 39, 64}));
  auto [o, lse] =
      tessera::flash_attention(normal({1, 1, 4, 16}, at::kHalf, 1), at::empty({1, 1, 0, 16}, cuda(at::kHalf)),
                               at::empty({1, 1, 0, 16}, cuda(at::kHalf)));
  EXPECT_TRUE(o.eq(0).all().item<bool>());
  EXPECT_TRUE(lse.eq(-kInf).all().item<bool>());
  EXPECT_EQ(
      tessera::linear_gelu(at::empty({0, 21}, cuda(at::kFloat)), normal({7, 21}, at::kFloat, 1)).sizes(),
      (std::vector<int64_t>{0, 7}));
  at::Tensor bias = normal({7}, at::kFloat, 2);
  expect_close(
      tessera::linear(at::empty({3, 0}, cuda(at::kFloat)), at::empty({7, 0}, cuda(at::kFloat)), bias),
      bias.expand({3, 7}), 0);
  for (std::vector<int64_t> shape : {std::vector<int64_t>{10, 0}, {0, 2}, {4, 0, 0}}) {
    EXPECT_EQ(tessera::softmax(at::empty(shape, cuda(at::kFloat)), -1).sizes(), shape);
  }
  EXPECT_EQ(tessera::softmax(at::full({}, 2.0, cuda(at::kFloat)), 0).item<float>(), 1);
}

TEST(PublicBugs, B77DevicesMustAgree) {
  TESSERA_NEEDS_GPU();
  at::Tensor x = normal({2, 4}, at::kFloat, 1);
  EXPECT_THROW(tessera::linear_gelu(x, x.cpu()), c10::Error);
  EXPECT_THROW(tessera::linear(x, x, at::ones({2})), c10::Error);
  EXPECT_NO_THROW(tessera::linear(x, x).sum().item<float>());
}

TEST(PublicBugs, B88OutputsAliasNothing) {
  TESSERA_NEEDS_GPU();
  at::Tensor x = at::zeros({1, 1, 1, 1}, cuda(at::kFloat));
  for (const at::Tensor& y :
       {attend(x, x, x), tessera::softmax(x, 0), tessera::linear(x, x.view({1, 1})), tessera::add(x, x)}) {
    at::Tensor(y).fill_(7);
    EXPECT_EQ(x.item<float>(), 0);
  }
}

}  // namespace
}  // namespace tessera::test
