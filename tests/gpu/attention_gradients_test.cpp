#include <ATen/Context.h>
#include <algorithm>
#include <cmath>

#include "tessera/policy.h"
#include "tests/gpu/gradients.h"

/// Public bug cases of attention's gradients, by their number in docs/bug_cases.md.
namespace tessera::test {
namespace {

TEST(GradientBugs, B03_AttentionOfLengthsThatNoTileDivides) {
  TESSERA_NEEDS_GPU();
  for (const int64_t S : {1, 2, 3, 47, 63, 65, 127, 129, 200, 296, 333}) {
    for (const bool causal : {false, true})
      expect_gradients(attention(c10::str(S, causal), causal, heads(at::kHalf, 1, 2, 2, S, S, 96)));
  }
}

TEST(GradientBugs, B41_NanBehindTheLastKey) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : kDtypes) {
    at::Tensor buffer = normal({4, 1, 2, 64, 64}, dtype, 1);
    buffer.slice(3, 33).fill_(NAN);
    const at::Tensor part = buffer.slice(3, 0, 33);
    expect_gradients(attention("in front of NaN", false, {part[0], part[1], part[2]}),
                     [&](const at::Tensor&) { return part[3]; });
  }
}

TEST(GradientBugs, B47_RowsWithoutKeys) {
  TESSERA_NEEDS_GPU();
  for (const auto& [rows, keys] : {std::pair<int64_t, int64_t>{5, 2}, {130, 3}, {4, 0}}) {
    const Tensors t = leaves(heads(at::kHalf, 1, 2, 2, rows, keys, 16), at::kHalf);
    const auto [output, logsumexp] = tessera::flash_attention(t[0], t[1], t[2], true, keys - rows);
    output.sum().backward();
    const int64_t blind = rows - keys;
    EXPECT_TRUE(t[0].grad().slice(2, 0, blind).eq(0).all().item<bool>());
    EXPECT_TRUE(logsumexp.slice(2, 0, blind).eq(-INFINITY).all().item<bool>());
    for (const at::Tensor& leaf : t) EXPECT_TRUE(at::isfinite(leaf.grad()).all().item<bool>());
  }
}

/// Masks of broadcast keys, which ATen's efficient kernel refuses, and rows that a mask hides whole, which
/// its cuDNN kernel shows.
TEST(GradientBugs, B47_MasksOfBroadcastKeysAndHiddenRows) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : kDtypes) {
    const Tensors t = heads(dtype, 1, 2, 2, 17, 9, 40);
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{2, 17, 1}, {17, 1}, {1}, {}, {17, 9}, {1, 1, 17, 9}}) {
      at::Tensor numbers = normal(sizes, at::kFloat, 4);
      if (sizes.size() > 1) numbers.select(-2, 3).fill_(-INFINITY);
      for (const at::Tensor& mask : {numbers.gt(-0.5), numbers.to(dtype)}) {
        const at::Tensor added =
            mask.scalar_type() == at::kBool
                ? at::zeros_like(mask, at::kFloat).masked_fill(mask.logical_not(), -INFINITY)
                : mask;
        const auto ours = [&](const Tensors& x) {
          return tessera::scaled_dot_product_attention(x[0], x[1], x[2], mask);
        };
        const auto aten = [&](const Tensors& x) {
          return std::get<0>(at::_scaled_dot_product_attention_math(
              x[0], x[1], x[2], added.to(x[0].scalar_type()).expand({1, 2, 17, 9}), 0, false));
        };
        expect_gradients({c10::str("mask of ", sizes, " ", mask.scalar_type()), ours, aten, t});
        const Tensors strided = {t[0].transpose(2, 3).contiguous().transpose(2, 3), t[1], t[2]};
        expect_gradients({c10::str("of strided rows, mask of ", sizes), ours, aten, strided});
      }
    }
  }
}

/// Strides of dims of size 1, which nothing is multiplied with but which ATen's kernels want to be aligned.
TEST(GradientBugs, B20_OneHeadOfAnyStride) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : kDtypes) {
    Tensors t = heads(dtype, 2, 1, 1, 61, 61, 184);
    for (at::Tensor& x : t) x = x.as_strided(x.sizes(), {x.stride(0), 1, x.stride(2), x.stride(3)});
    expect_gradients(attention(c10::str("one head of ", dtype), false, t));
  }
}

/// The same beside rows that are one row in memory: each has a gradient of its own.
TEST(GradientBugs, B20_ExpandedRowsOfOneHead) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : kDtypes) {
    for (const std::size_t expanded : {0, 1, 2}) {
      Tensors t = heads(dtype, 1, 1, 1, 121, 3, 146);
      t[expanded] = t[expanded].slice(2, 0, 1).expand(t[expanded].sizes());
      const at::Tensor mask = at::arange(3, at::device(at::kCUDA)).ne(1);
      const at::Tensor added =
          at::zeros({3}, mask.options().dtype(at::kDouble)).masked_fill(mask.logical_not(), -INFINITY);
      expect_gradients(
          {c10::str("tensor ", expanded, " of ", dtype),
           [&](const Tensors& x) { return tessera::scaled_dot_product_attention(x[0], x[1], x[2], mask); },
           [&](const Tensors& x) {
             return std::get<0>(at::_scaled_dot_product_attention_math(
                 x[0], x[1], x[2], added.expand({1, 1, 121, 3}), 0, false));
           },
           t});
    }
  }
}

/// A mask of numbers that ATen does not copy, since its rows are multiples of 16 elements.
TEST(GradientBugs, B20_UnalignedMask) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : kDtypes) {
    Tensors t = heads(dtype, 2, 2, 2, 50, 80, 104);
    const at::Tensor whole = normal({2, 1, 50, 83}, dtype, 4);
    for (const at::Tensor& mask : {whole.slice(3, 1, 81), whole.slice(3, 1, 81).slice(2, 7, 8),
                                   whole.transpose(2, 3).contiguous().transpose(2, 3).slice(3, 0, 80)}) {
      expect_gradients(
          {c10::str("mask of strides ", mask.strides(), " of ", dtype),
           [&](const Tensors& x) { return tessera::scaled_dot_product_attention(x[0], x[1], x[2], mask); },
           [&](const Tensors& x) {
             return std::get<0>(at::_scaled_dot_product_attention_math(
                 x[0], x[1], x[2], mask.to(at::kDouble).expand({2, 2, 50, 80}), 0, false));
           },
           t});
    }
  }
}

TEST(GradientBugs, B53_SharedKeysGetTheSum) {
  TESSERA_NEEDS_GPU();
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf}) {
    const Tensors t = heads(dtype, 1, 8, 1, 33, 40, 64);
    expect_gradients(attention("one key head", false, t));
    const Tensors one = leaves(t, dtype), many = leaves(t, dtype);
    attend(one, false).sum().backward();
    attend({many[0], many[1].expand({1, 8, 40, 64}), many[2].expand({1, 8, 40, 64})}, false).sum().backward();
    for (std::size_t i = 0; i < 3; ++i) expect_close(one[i].grad(), many[i].grad(), tolerance_of(dtype));
  }
}

/// Scores of deviation 27, with and without shared keys and a mask, of head dims that ATen's fused kernel
/// takes and that it does not.
TEST(GradientBugs, B53_LargeScoresInF32ErrAsAtens) {
  TESSERA_NEEDS_GPU();
  struct Shape {
    int64_t H, G, I, J, D;
    bool causal;
  };
  for (const Shape& s : {Shape{3, 1, 183, 1, 135, false},
                         {3, 1, 173, 79, 79, false},
                         {6, 2, 129, 16, 55, true},
                         {3, 1, 59, 152, 176, false},
                         {2, 2, 131, 44, 191, true},
                         {8, 2, 100, 333, 128, false}}) {
    SCOPED_TRACE(c10::str(s.H, " on ", s.G, ", ", s.I, " x ", s.J, " of ", s.D));
    double ours = 0, atens = 0, largest = 0;
    for (int call = 0; call < 5; ++call) {
      Tensors x = heads(at::kFloat, 2, s.H, s.G, s.I, s.J, s.D);
      x[0] = at::roll(x[0], call) * 2 * std::sqrt(static_cast<double>(s.D));
      const at::Tensor grad = normal({2, s.H, s.I, s.D}, at::kFloat, 9);
      const auto gradients = [&](const auto& attend_by, at::ScalarType dtype) {
        const Tensors t = leaves(x, dtype);
        return torch::autograd::grad({attend_by(t, s.causal)}, t, {grad.to(dtype)});
      };
      const Tensors exact = gradients(attend_in_aten, at::kDouble), got = gradients(attend, at::kFloat),
                    native = gradients(attend_in_aten, at::kFloat);
      const auto error = [&](const Tensors& found, std::size_t i) {
        return (found[i] - exact[i]).abs().max().item<double>();
      };
      for (std::size_t i = 0; i < exact.size(); ++i) {
        ours = std::max(ours, error(got, i));
        atens = std::max(atens, error(native, i));
        largest = std::max(largest, exact[i].abs().max().item<double>());
      }
    }
    EXPECT_LE(ours, 1.5 * atens + 1e-6 * largest);
  }
}

TEST(GradientBugs, B57_HeadDimsBetweenTiles) {
  TESSERA_NEEDS_GPU();
  for (const int64_t D : {8, 16, 24, 40, 48, 56, 72, 80, 88, 96, 104, 112, 120, 136, 160, 192, 224}) {
    for (int call = 0; call < 2; ++call) {  // the second meets what the first left behind
      Tensors t = heads(at::kBFloat16, 1, 2, 2, 512, 512, D);
      if (call == 1) t = {t[1], t[2], t[0]};
      expect_gradients(attention(c10::str("D ", D), false, t));
    }
  }
}

struct Deterministic {
  explicit Deterministic(bool on) { at::globalContext().setDeterministicAlgorithms(on, /*warn_only=*/false); }
  ~Deterministic() { at::globalContext().setDeterministicAlgorithms(false, false); }
};

TEST(GradientBugs, B90_AttentionIsTheSameEveryTime) {
  TESSERA_NEEDS_GPU();
  for (const bool on : {true, false}) {
    const Deterministic mode(on);
    Tensors kept;
    for (int run = 0; run < 20; ++run) {
      const Tensors t = leaves(heads(at::kBFloat16, 2, 8, 8, 1024, 1024, 128), at::kBFloat16);
      const at::Tensor output = attend(t, false);
      Tensors all = {output.detach()};
      if (on) {  // without it ATen says nothing of gradients
        for (const at::Tensor& g : torch::autograd::grad({output}, t, {normal_like(output)}))
          all.push_back(g);
      }
      if (run == 0) kept = all;
      for (std::size_t i = 0; i < all.size(); ++i) expect_same_bits(all[i], kept[i]);
    }
  }
}

}  // namespace
}  // namespace tessera::test
