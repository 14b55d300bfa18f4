#include <array>
#include <cmath>

#include "perf/matmul_precision.h"
#include "tessera/ops.h"
#include "tests/gpu/gpu.h"

namespace tessera::test {
namespace {

using Tensors = std::vector<at::Tensor>;
constexpr at::ScalarType kDtypes[] = {at::kFloat, at::kHalf, at::kBFloat16};

TEST(Accuracy, Add) {
  TESSERA_NEEDS_GPU();
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> shapes = {
      {{1}, {1}},     {{1000}, {1000}},       {{3, 5, 7}, {3, 5, 7}},
      {{65537}, {1}}, {{128, 1, 33}, {9, 1}}, {{2, 3, 4, 5, 6}, {5, 1}},
      {{}, {4, 4}}};
  for (at::ScalarType dtype : kDtypes) {
    for (const auto& [a, b] : shapes) {
      expect_accurate({.name = "add " + c10::str(dtype, a, b),
                       .inputs =
                           [&](std::uint64_t seed) {
                             return Tensors{normal(a, dtype, seed), normal(b, dtype, seed + 9)};
                           },
                       .ours = [](const Tensors& t) { return tessera::add(t[0], t[1]); },
                       .native = [](const Tensors& t) { return at::add(t[0], t[1]); }});
    }
  }
}

TEST(Accuracy, LinearAndGelu) {
  TESSERA_NEEDS_GPU();
  const int64_t shapes[][3] = {{1, 1, 1},        {16, 16, 16},    {7, 5, 3},      {64, 64, 64},
                               {128, 128, 128},  {129, 127, 65},  {300, 200, 77}, {1111, 64, 33},
                               {513, 1030, 100}, {2, 1000, 1001}, {1, 4096, 512}};
  for (at::ScalarType dtype : kDtypes) {
    for (auto [M, N, K] : shapes) {
      for (const char* activation : {"linear", "none", "tanh"}) {
        for (bool bias : {true, false}) {
          auto optional = [bias](const Tensors& t) { return bias ? std::optional(t[2]) : std::nullopt; };
          bool plain = std::string(activation) == "linear";
          expect_accurate(
              {.name = c10::str(activation, " ", dtype, " ", M, "x", N, "x", K, bias ? " bias" : ""),
               .inputs =
                   [&](std::uint64_t seed) {
                     return Tensors{normal({M, K}, dtype, seed),
                                    normal({N, K}, dtype, seed + 9) / std::sqrt(static_cast<double>(K)),
                                    normal({N}, dtype, seed + 99)};
                   },
               .ours =
                   [&](const Tensors& t) {
                     return plain ? tessera::linear(t[0], t[1], optional(t))
                                  : tessera::linear_gelu(t[0], t[1], optional(t), activation);
                   },
               .native =
                   [&](const Tensors& t) {
                     at::Tensor y = at::linear(t[0], t[1], optional(t));
                     return plain ? y : at::gelu(y, activation);
                   }});
        }
      }
    }
  }
}

/// Where torch allows TF32 in products.
const CallSpec kInTf32{.tf32 = true};

/// Calls of f32 whose products ATen takes in TF32 where it may.
struct Product {
  std::string name;
  int64_t M, N, K;
  Tensors inputs(std::uint64_t seed) const {
    return {normal({M, K}, at::kFloat, seed),
            normal({N, K}, at::kFloat, seed + 9) / std::sqrt(static_cast<double>(K)),
            normal({N}, at::kFloat, seed + 99)};
  }
  at::Tensor ours(const Tensors& t) const {
    return name == "linear" ? tessera::linear(t[0], t[1], t[2])
                            : tessera::linear_gelu(t[0], t[1], t[2], name);
  }
  at::Tensor native(const Tensors& t) const {
    const at::Tensor y = at::linear(t[0], t[1], t[2]);
    return name == "linear" ? y : at::gelu(y, name);
  }
};
std::vector<Product> products() {
  std::vector<Product> all;
  for (const char* name : {"linear", "none", "tanh"}) {
    for (auto [M, N, K] :
         {std::array<int64_t, 3>{64, 64, 64}, {128, 256, 512}, {300, 200, 77}, {1111, 64, 36}})
      all.push_back({name, M, N, K});
  }
  return all;
}

TEST(Accuracy, LinearAndGeluInTf32) {
  TESSERA_NEEDS_GPU();
  const perf::MatmulPrecision allowed(kInTf32);
  for (const Product& p : products()) {
    expect_accurate({.name = c10::str(p.name, " in TF32 ", p.M, "x", p.N, "x", p.K),
                     .inputs = [&](std::uint64_t seed) { return p.inputs(seed); },
                     .ours = [&](const Tensors& t) { return p.ours(t); },
                     .native = [&](const Tensors& t) { return p.native(t); }});
  }
}

/// The next call after a change of torch's setting runs the other kernel; without TF32 it is as it was.
TEST(Accuracy, LinearAndGeluAreInTf32OnlyWhileTorchAllowsIt) {
  TESSERA_NEEDS_GPU();
  for (const Product& p : products()) {
    SCOPED_TRACE(c10::str(p.name, " ", p.M, "x", p.N, "x", p.K));
    const Tensors t = p.inputs(1), wide{t[0].to(at::kDouble), t[1].to(at::kDouble), t[2].to(at::kDouble)};
    const at::Tensor reference = p.native(wide);
    const auto error = [&](const at::Tensor& y) { return (y - reference).abs().max().item<double>(); };
    const at::Tensor before = p.ours(t);
    EXPECT_LE(error(before), 1e-5 * reference.abs().max().item<double>());
    at::Tensor rounded;
    {
      const perf::MatmulPrecision allowed(kInTf32);
      rounded = p.ours(t);
      expect_same_bits(rounded, p.ours(t));
    }
    const bool is_short = std::min({p.M, p.N, p.K}) < 64;  // cuBLAS keeps their digits, and so does ours
    if (is_short) {
      expect_same_bits(rounded, before);
    } else {
      EXPECT_GT(error(rounded), 10 * error(before));
    }
    expect_same_bits(before, p.ours(t));
  }
}

TEST(Accuracy, Softmax) {
  TESSERA_NEEDS_GPU();
  struct Case {
    std::vector<int64_t> sizes;
    int64_t dim;
  };
  std::vector<Case> cases = {{{2, 3, 41, 41, 41}, 1}, {{1, 65536, 6}, 0}, {{1, 65536, 6}, 1},
                             {{1, 65536, 6}, 2},      {{65536, 2}, 1},    {{7, 33, 5}, 1},
                             {{5, 300, 64}, 1},       {{5, 1000, 9}, 1}};
  for (int64_t n :
       {1,    2,    3,    31,   32,   33,   64,   100,  127,  128,   129,   255,   257,   511,   1023,
        1024, 1025, 2047, 2049, 3000, 4095, 4097, 8191, 8192, 12289, 16384, 16385, 46336, 65537, 102400}) {
    cases.push_back({{3, n}, -1});
  }
  for (at::ScalarType dtype : kDtypes) {
    for (const Case& c : cases) {
      expect_accurate(
          {.name = c10::str("softmax ", dtype, c.sizes, " dim ", c.dim),
           .inputs = [&](std::uint64_t seed) { return Tensors{normal(c.sizes, dtype, seed) * 3}; },
           .ours = [&](const Tensors& t) { return tessera::softmax(t[0], c.dim); },
           .native = [&](const Tensors& t) { return at::softmax(t[0], c.dim); }});
    }
  }
}

struct AttentionShape {
  int64_t B, H, G, I, J, D;
};

/// The mathematical form of ATen's attention adds its mask: a boolean one as 0 and -inf.
at::Tensor added_mask(const at::Tensor& mask, at::ScalarType dtype) {
  if (mask.scalar_type() != at::kBool) return mask;
  return at::zeros(mask.sizes(), mask.options().dtype(dtype)).masked_fill(mask.logical_not(), -INFINITY);
}

void check_attention(at::ScalarType dtype, const AttentionShape& s, bool causal, int mask, double spread) {
  expect_accurate(
      {.name = c10::str("attention ", dtype, " B", s.B, " H", s.H, "/", s.G, " ", s.I, "x", s.J, " D", s.D,
                        causal ? " causal" : "", " mask ", mask, " spread ", spread),
       .inputs =
           [&](std::uint64_t seed) {
             Tensors t{normal({s.B, s.H, s.I, s.D}, dtype, seed) * spread,
                       normal({s.B, s.G, s.J, s.D}, dtype, seed + 9),
                       normal({s.B, s.G, s.J, s.D}, dtype, seed + 99)};
             if (mask == 1) t.push_back(normal({s.B, 1, s.I, s.J}, at::kFloat, seed + 5) > -0.5);
             if (mask == 2) t.push_back(normal({s.H, s.I, s.J}, dtype, seed + 5));
             return t;
           },
       .ours =
           [&](const Tensors& t) {
             auto m = mask == 0 ? std::nullopt : std::optional(t[3]);
             return tessera::scaled_dot_product_attention(t[0], t[1], t[2], m, 0, causal, {}, s.H != s.G);
           },
       .native =
           [&](const Tensors& t) {
             auto m = mask == 0 ? std::nullopt : std::optional(added_mask(t[3], t[0].scalar_type()));
             return std::get<0>(
                 at::_scaled_dot_product_attention_math(t[0], t[1], t[2], m, 0, causal, {}, {}, s.H != s.G));
           }});
}

TEST(Accuracy, Attention) {
  TESSERA_NEEDS_GPU();
  const AttentionShape shapes[] = {{1, 1, 1, 1, 1, 1},     {2, 4, 4, 64, 64, 64},   {1, 2, 2, 33, 47, 32},
                                   {2, 4, 2, 130, 70, 64}, {1, 6, 1, 70, 300, 128}, {1, 2, 2, 5, 2, 16},
                                   {4, 8, 8, 1, 257, 128}, {1, 2, 2, 100, 100, 40}, {1, 2, 2, 77, 129, 72},
                                   {1, 2, 1, 65, 65, 100}, {1, 2, 2, 96, 200, 192}, {1, 1, 1, 65, 100, 256}};
  for (at::ScalarType dtype : kDtypes) {
    for (const AttentionShape& s : shapes) {
      for (bool causal : {false, true}) check_attention(dtype, s, causal, 0, 1);
      for (int mask : {1, 2}) check_attention(dtype, s, false, mask, 1);
    }
  }
}

/// As ATen's own attention, which keeps f32's digits: at::scaled_dot_product_attention.
TEST(Accuracy, AttentionWhereTorchAllowsTf32) {
  TESSERA_NEEDS_GPU();
  const perf::MatmulPrecision allowed(kInTf32);
  for (bool causal : {false, true}) {
    expect_accurate({.name = causal ? "causal" : "all keys",
                     .inputs =
                         [](std::uint64_t seed) {
                           Tensors t;
                           for (std::uint64_t i : {0, 9, 99})
                             t.push_back(normal({2, 4, 130, 64}, at::kFloat, seed + i));
                           return t;
                         },
                     .ours =
                         [&](const Tensors& t) {
                           return tessera::scaled_dot_product_attention(t[0], t[1], t[2], {}, 0, causal);
                         },
                     .native =
                         [&](const Tensors& t) {
                           return at::scaled_dot_product_attention(t[0], t[1], t[2], {}, 0, causal);
                         }});
  }
}

TEST(Accuracy, AttentionOfEveryHeadDim) {
  TESSERA_NEEDS_GPU();
  for (int64_t D = 1; D <= 256; D += D < 24 ? 1 : 13)
    check_attention(at::kBFloat16, {1, 2, 2, 40, 50, D}, true, 0, 1);
}

TEST(Accuracy, AttentionOfSpreadScores) {
  TESSERA_NEEDS_GPU();
  for (at::ScalarType dtype : kDtypes) check_attention(dtype, {1, 2, 2, 100, 300, 64}, false, 0, 30);
}

}  // namespace
}  // namespace tessera::test
