#include "tests/fuzz/operator_call.h"

#include <ATen/ATen.h>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "tessera/ops.h"
#include "tests/fuzz/random_tensor.h"

namespace tessera::fuzz {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// Makes the tensors of one call, of which one may be spoiled.
class CallMaker {
 public:
  CallMaker(Choices& choices, at::Device device, int largest)
      : c_(choices), device_(device), largest_(largest) {}

  OperatorCall make() {
    dtype_ = c_.of({at::kFloat, at::kBFloat16, at::kHalf});
    spoiled_ = c_.chance(15) ? c_.below(3) : -1;
    switch (c_.below(6)) {
      case 0:
        add();
        break;
      case 1:
        softmax();
        break;
      case 2:
      case 3:
        linear();
        break;
      default:
        attention();
    }
    return std::move(call_);
  }

 private:
  std::int64_t size() { return c_.chance(70) ? 1 + c_.below(largest_) : c_.of({1, 2, 8, 16, 0, 3, 17}); }
  /// Of a tensor of 2^20 elements at most.
  Sizes sizes(int rank) {
    constexpr std::int64_t kMost = 1 << 20;
    Sizes result;
    std::int64_t left = kMost;
    for (int i = 0; i < rank; ++i) {
      result.push_back(std::min(size(), left));
      left /= std::max<std::int64_t>(result.back(), 1);
    }
    return result;
  }

  void tensor(Sizes sizes, at::ScalarType dtype) {
    if (spoiled_ == static_cast<int>(call_.tensors.size())) {
      call_.is_spoiled = true;
      if (sizes.empty() || c_.chance(30)) {
        dtype = c_.of({at::kFloat, at::kDouble, at::kInt, at::kHalf, at::kBool});
      } else if (c_.chance(30)) {
        sizes.erase(sizes.begin());
      } else {
        sizes[static_cast<std::size_t>(c_.below(static_cast<int>(sizes.size())))] += 1 + c_.below(2);
      }
    }
    RandomTensor made = random_tensor(c_, sizes, dtype, device_);
    call_.text += "\n  " + made.text;
    call_.tensors.push_back(made.tensor);
  }

  /// Puts zeros of both signs, infinities, NaN and the smallest numbers into the tensors.
  void extremes() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const at::Tensor& t : call_.tensors) {
      if (!t.is_floating_point() || t.numel() == 0) continue;
      const double smallest = t.scalar_type() == at::kHalf ? 0x1p-24 : 0x1p-130;
      for (const double value : {0.0, -0.0, kInfinity, -kInfinity, std::nan(""), smallest, -smallest}) {
        at::Tensor element = t;
        while (element.dim() > 0) element = element.select(0, c_.below(static_cast<int>(element.size(0))));
        element.fill_(value);
      }
    }
    call_.text += "\n  with zeros, infinities, NaN and subnormal numbers";
  }

  void add();
  void softmax();
  void linear();
  void attention();

  Choices& c_;
  at::Device device_;
  int largest_;
  at::ScalarType dtype_ = at::kFloat;
  int spoiled_ = -1;
  OperatorCall call_;
};

void CallMaker::add() {
  call_.text = "add";
  call_.is_exact = true;
  const Sizes first = sizes(c_.below(5));
  Sizes second = first;
  for (std::int64_t& size : second) size = c_.chance(30) ? 1 : size;
  if (c_.chance(30))
    second.erase(second.begin(), second.begin() + c_.below(static_cast<int>(second.size()) + 1));
  const at::ScalarType other = c_.chance(30) ? c_.of({at::kFloat, at::kBFloat16, at::kHalf}) : dtype_;
  const bool swaps = c_.chance(50);
  tensor(swaps ? second : first, dtype_);
  tensor(swaps ? first : second, other);
  if (c_.chance(50)) extremes();
  call_.ours = [](const Tensors& t) { return Tensors{tessera::add(t[0], t[1])}; };
  call_.native = [](const Tensors& t) { return Tensors{at::add(t[0], t[1])}; };
  call_.formula = call_.native;
}

void CallMaker::softmax() {
  const int rank = c_.below(5);
  Sizes shape = sizes(rank);
  if (rank > 0 && c_.chance(20)) shape.back() *= 10;
  tensor(shape, dtype_);
  std::int64_t dim = rank == 0 ? c_.of({0, -1}) : c_.below(2 * rank) - rank;
  if (spoiled_ >= 0 && c_.chance(50)) dim += 5;  // perhaps outside
  std::optional<at::ScalarType> dtype;
  if (c_.chance(20)) dtype = c_.of({at::kFloat, at::kHalf, at::kBFloat16});
  call_.is_spoiled = spoiled_ >= 0;
  call_.text = fmt::format("softmax dim {}{}{}", dim,
                           dtype ? std::string(" dtype ") + c10::toString(*dtype) : "", call_.text);
  call_.ours = [=](const Tensors& t) { return Tensors{tessera::softmax(t[0], dim, dtype)}; };
  call_.native = [=](const Tensors& t) { return Tensors{at::softmax(t[0], dim, dtype)}; };
  call_.formula = [=](const Tensors& t) {
    return Tensors{at::softmax(dtype ? t[0].to(*dtype).to(at::kDouble) : t[0], dim)};
  };
}

void CallMaker::linear() {
  constexpr std::int64_t kShortestInTf32 = 64;
  const std::int64_t more = largest_ > kShortestInTf32 && c_.chance(40) ? kShortestInTf32 : 0;
  Sizes input = sizes(1 + c_.below(3));
  input.front() += more;
  if (input.size() > 1) input.back() += more;
  const std::int64_t K = input.back(), N = size() + more;
  const bool has_bias = c_.chance(60);
  const std::string activation = c_.of({"", "none", "tanh"});
  tensor(input, dtype_);
  tensor({N, K}, dtype_);
  if (has_bias) tensor({N}, dtype_);
  call_.has_products = true;
  call_.terms = std::sqrt(static_cast<double>(std::max<std::int64_t>(K, 1)));
  call_.gradient_terms = std::max(2.0, std::sqrt(static_cast<double>(std::max<std::int64_t>(K, N))));
  call_.text = (activation.empty() ? "linear" : "linear_gelu " + activation) + call_.text;
  const auto bias = [](const Tensors& t) { return t.size() > 2 ? std::optional(t[2]) : std::nullopt; };
  call_.ours = [=](const Tensors& t) {
    return Tensors{activation.empty() ? tessera::linear(t[0], t[1], bias(t))
                                      : tessera::linear_gelu(t[0], t[1], bias(t), activation)};
  };
  call_.native = [=](const Tensors& t) {
    const at::Tensor y = at::linear(t[0], t[1], bias(t));
    return Tensors{activation.empty() ? y : at::gelu(y, activation)};
  };
  call_.formula = call_.native;
}

struct AttentionFlags {
  bool causal = false;
  std::int64_t diagonal = 0;
  std::optional<double> scale;
  bool has_logsumexp = false;
};

/// Key or value with a head for each of the query's.
at::Tensor for_each_head(const at::Tensor& t, const at::Tensor& query) {
  return t.repeat_interleave(query.size(1) / std::max<std::int64_t>(t.size(1), 1), 1);
}

/// scale q k^T, before any mask.
at::Tensor scores_of(const Tensors& t, const AttentionFlags& flags) {
  const double scale =
      flags.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(t[0].size(3), 1))));
  return t[0].matmul(for_each_head(t[1], t[0]).transpose(-2, -1)) * scale;
}

/// Of causal attention: true where a row sees a key.
at::Tensor visible_keys(const Tensors& t, std::int64_t diagonal) {
  return at::ones({t[0].size(2), t[1].size(2)}, t[0].options().dtype(at::kBool)).tril(diagonal);
}

/// softmax(scale q k^T + mask) v; a row that sees no key gives 0 and -inf.
Tensors attention_formula(const Tensors& t, const AttentionFlags& flags) {
  at::Tensor scores = scores_of(t, flags);
  if (t.size() > 3)
    scores =
        t[3].scalar_type() == at::kBool ? scores.masked_fill(t[3].logical_not(), kHidden) : scores + t[3];
  if (flags.causal) {
    scores = scores.masked_fill(visible_keys(t, flags.diagonal).logical_not(), kHidden);
  }
  const at::Tensor blind = scores.eq(kHidden).all(-1, true);
  const at::Tensor weights = scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0);
  Tensors result = {weights.matmul(for_each_head(t[2], t[0]))};
  if (flags.has_logsumexp) result.push_back(scores.logsumexp(-1));
  return result;
}

/// ATen's mathematical form, which takes every case; it adds masks.
at::Tensor native_attention(const Tensors& t, const AttentionFlags& flags, bool grouped) {
  std::optional<at::Tensor> mask;
  if (t.size() > 3) mask = t[3];
  if (mask && mask->scalar_type() == at::kBool)
    mask = at::zeros(mask->sizes(), t[0].options()).masked_fill(mask->logical_not(), kHidden);
  if (flags.causal) {
    const at::Tensor visible = visible_keys(t, flags.diagonal);
    mask = at::zeros(visible.sizes(), t[0].options()).masked_fill(visible.logical_not(), kHidden);
  }
  const bool by_hand = grouped && t[0].numel() == 0;  // ATen cannot repeat what is empty
  const at::Tensor key = by_hand ? for_each_head(t[1], t[0]) : t[1],
                   value = by_hand ? for_each_head(t[2], t[0]) : t[2];
  return std::get<0>(at::_scaled_dot_product_attention_math(t[0], key, value, mask, 0, false, {}, flags.scale,
                                                            grouped && !by_hand));
}

/// ATen's kernel of its choice, of dense and aligned tensors, which its fused kernels take.
at::Tensor fused_attention(const Tensors& given, const AttentionFlags& flags, bool grouped) {
  Tensors t;
  for (const at::Tensor& x : given) t.push_back(x.clone(at::MemoryFormat::Contiguous));
  std::optional<at::Tensor> mask;
  if (t.size() > 3) {
    std::vector<int64_t> sizes = t[3].sizes().vec();
    sizes.back() = t[1].size(2);  // they refuse a single column
    mask = t[3].expand(sizes).contiguous();
  }
  if (flags.causal) mask = visible_keys(t, flags.diagonal);
  return at::scaled_dot_product_attention(t[0], t[1], t[2], mask, 0, false, flags.scale, grouped);
}

void CallMaker::attention() {
  const std::int64_t B = c_.chance(95) ? 1 + c_.below(2) : 0, G = 1 + c_.below(2), H = G * (1 + c_.below(3));
  const std::int64_t S = size(), T = size(), D = 1 + c_.below(largest_),
                     E = c_.chance(20) ? 1 + c_.below(largest_) : D;
  AttentionFlags flags{.has_logsumexp = c_.chance(50)};
  const int hides = c_.below(5);
  if (c_.chance(25)) flags.scale = c_.of({0.5, -0.5, 0.0, 2.0});
  tensor({B, H, S, D}, dtype_);
  tensor({B, G, T, D}, dtype_);
  tensor({B, G, T, E}, dtype_);
  flags.causal = hides == 1;
  if (flags.causal && flags.has_logsumexp && c_.chance(50)) flags.diagonal = T - S + c_.of({0, 3, -2});
  if (hides >= 2 && !flags.has_logsumexp) {
    const Sizes shape =
        c_.of(std::vector<Sizes>{{S, T}, {B, 1, 1, T}, {1, H, S, T}, {B, H, S, T}, {H, S, 1}});
    tensor(shape, c_.of({at::kBool, dtype_}));
  }
  const bool grouped = G != H || flags.has_logsumexp;  // flash_attention always shares heads
  call_.has_products = true;
  call_.terms = 1;
  call_.gradient_terms *= std::max(1.0, std::abs(flags.scale.value_or(1)));
  call_.text =
      fmt::format("{} causal {} diagonal {} scale {}{}",
                  flags.has_logsumexp ? "flash_attention" : "scaled_dot_product_attention", flags.causal,
                  flags.diagonal, flags.scale ? fmt::format("{}", *flags.scale) : "default", call_.text);
  call_.ours = [=](const Tensors& t) {
    if (flags.has_logsumexp) {
      auto [output, logsumexp] =
          tessera::flash_attention(t[0], t[1], t[2], flags.causal, flags.diagonal, flags.scale);
      return Tensors{output, logsumexp};
    }
    const std::optional<at::Tensor> mask = t.size() > 3 ? std::optional(t[3]) : std::nullopt;
    return Tensors{
        tessera::scaled_dot_product_attention(t[0], t[1], t[2], mask, 0, flags.causal, flags.scale, grouped)};
  };
  call_.native = [=](const Tensors& t) { return Tensors{native_attention(t, flags, grouped)}; };
  call_.fused = [=](const Tensors& t) { return Tensors{fused_attention(t, flags, grouped)}; };
  call_.formula = [=](const Tensors& t) { return attention_formula(t, flags); };
  call_.largest_score = [=](const Tensors& t) {
    const at::Tensor scores = scores_of(t, flags);
    return scores.numel() == 0 ? 0 : scores.abs().max().item<double>();
  };
}

}  // namespace

OperatorCall operator_call(Choices& choices, at::Device device, int largest) {
  return CallMaker(choices, device, largest).make();
}

}  // namespace tessera::fuzz
