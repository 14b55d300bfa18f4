#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tests/support/cases.h"

/// The operators' programs, as they are written, against their formulas in float64.
namespace tessera {
namespace {

using test::Call;
using test::Case;
using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The tensors of a call after a run, by name.
class Tensors {
 public:
  Tensors(const Program& program, const Call& call, std::vector<Values> values)
      : program_(program), call_(call), values_(std::move(values)) {}

  bool has(const std::string& name) const { return find(name) < program_.tensors.size(); }
  const TensorDecl& decl(const std::string& name) const { return program_.tensors.at(find(name)); }
  const Values& of(const std::string& name) const { return values_.at(find(name)); }
  std::size_t size(const std::string& dim) const { return static_cast<std::size_t>(call_.dims.at(dim)); }
  double scalar(const std::string& name) const { return call_.scalars.at(name); }

 private:
  std::size_t find(const std::string& name) const {
    auto it = std::find_if(program_.tensors.begin(), program_.tensors.end(),
                           [&](const TensorDecl& t) { return t.name == name; });
    return static_cast<std::size_t>(it - program_.tensors.begin());
  }

  const Program& program_;
  const Call& call_;
  std::vector<Values> values_;
};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

Values added(const Tensors& t) {
  Values sums = t.of("self");
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += t.of("other")[i];
  return sums;
}

Values preactivation(const Tensors& t) {
  Values out;
  for (std::size_t m = 0; m < t.size("M"); ++m) {
    for (std::size_t n = 0; n < t.size("N"); ++n) {
      double sum = t.has("bias") ? t.of("bias")[n] : 0;
      for (std::size_t k = 0; k < t.size("K"); ++k)
        sum += t.of("input")[m * t.size("K") + k] * t.of("weight")[n * t.size("K") + k];
      out.push_back(sum);
    }
  }
  return out;
}

double gelu(double x) {
  return x / 2 * std::erfc(-x / std::sqrt(2));
}
double gelu_tanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

Values linear(const Tensors& t, const std::string& name) {
  Values out = preactivation(t);
  for (double& x : out)
    x = contains(name, "_gelu_tanh") ? gelu_tanh(x) : contains(name, "_gelu") ? gelu(x) : x;
  return out;
}

/// Over N, with `inner` elements of other rows between its neighbours.
Values softmax(const Tensors& t, std::size_t inner) {
  const Values& x = t.of("self");
  std::size_t N = t.size("N");
  Values out(x.size());
  for (std::size_t row = 0; row < x.size() / N; ++row) {
    std::size_t first = row / inner * inner * N + row % inner;
    double top = -kInfinity;
    for (std::size_t n = 0; n < N; ++n) top = std::max(top, x[first + n * inner]);
    double total = 0;
    for (std::size_t n = 0; n < N; ++n) total += std::exp(x[first + n * inner] - top);
    for (std::size_t n = 0; n < N; ++n) out[first + n * inner] = std::exp(x[first + n * inner] - top) / total;
  }
  return out;
}

/// Scores of one row of queries, -inf where it does not see a key.
Values scores(const Tensors& t, bool causal, std::size_t b, std::size_t h, std::size_t i) {
  std::size_t I = t.size("I"), J = t.size("J"), D = t.size("D"), H = t.size("H");
  auto group = static_cast<std::size_t>(t.scalar("group"));
  Values result;
  for (std::size_t j = 0; j < J; ++j) {
    double sum = 0;
    for (std::size_t d = 0; d < D; ++d)
      sum += t.of("query")[((b * H + h) * I + i) * D + d] *
             t.of("key")[((b * t.size("G") + h / group) * J + j) * D + d];
    sum *= t.scalar("scale");
    bool seen = !causal || static_cast<double>(j) <= static_cast<double>(i) + t.scalar("diagonal");
    if (t.has("mask")) {
      double mask = t.of("mask")[((b * H + h) * I + i) * J + j];
      t.decl("mask").dtype == boolean ? seen = seen&& mask != 0 : sum += mask;
    }
    result.push_back(seen ? sum : -kInfinity);
  }
  return result;
}

struct Attended {
  Values output;
  Values logsumexp;
};

Attended attention(const Tensors& t, bool causal) {
  std::size_t J = t.size("J"), E = t.size("E"), H = t.size("H");
  auto group = static_cast<std::size_t>(t.scalar("group"));
  Attended result;
  for (std::size_t row = 0; row < t.size("B") * H * t.size("I"); ++row) {
    std::size_t i = row % t.size("I"), h = row / t.size("I") % H, b = row / t.size("I") / H;
    Values s = scores(t, causal, b, h, i);
    double total = 0;
    for (double score : s) total += std::exp(score);
    for (std::size_t e = 0; e < E; ++e) {
      double sum = 0;
      for (std::size_t j = 0; j < J; ++j)
        sum += std::exp(s[j]) * t.of("value")[((b * t.size("G") + h / group) * J + j) * E + e];
      result.output.push_back(total == 0 ? 0 : sum / total);
    }
    result.logsumexp.push_back(std::log(total));
  }
  return result;
}

/// What each output should be, by name.
std::map<std::string, Values> expected(const Case& c, const Tensors& t) {
  if (c.name.starts_with("add")) return {{"out", added(t)}};
  if (c.name.starts_with("linear")) {
    std::map<std::string, Values> result = {{"out", linear(t, c.name)}};
    if (t.has("preactivation")) result["preactivation"] = preactivation(t);
    return result;
  }
  if (c.name.starts_with("softmax"))
    return {{"out", softmax(t, contains(c.name, "_inner") ? t.size("I") : 1)}};
  Attended attended = attention(t, contains(c.name, "_causal"));
  return {{"output", attended.output}, {"logsumexp", attended.logsumexp}};
}

/// Of operands in TF32 each is off by at most half of its last bit, 2^-11.
double tolerance_of(const Case& c, DType dtype) {
  if (contains(c.name, "_tf32")) return 0x1p-10;
  return dtype == f32 ? 0x1p-18 : dtype == f16 ? 0x1p-9 : dtype == bf16 ? 0x1p-7 : 0;
}

void expect_values(const Case& c, const Call& call) {
  Tensors t(c.program, call, test::outputs(c.program, call));
  for (const auto& [name, values] : expected(c, t))
    EXPECT_TRUE(test::same_values(name, values, t.of(name), tolerance_of(c, t.decl(name).dtype)));
}

class OperatorValues : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Programs, OperatorValues, ::testing::ValuesIn(test::operator_cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(OperatorValues, AreThoseOfTheFormula) {
  for (const Call& call : GetParam().calls) expect_values(GetParam(), call);
}

TEST(AttentionValues, TakeAnyScale) {
  Case c = test::named_case("attention_f32_causal_signed");
  for (double scale : {0.0, -0.5, 2.0}) {
    Call call = c.calls.front();
    call.scalars["scale"] = scale;
    expect_values(c, call);
  }
}

class SoftmaxValues : public ::testing::TestWithParam<const char*> {
 protected:
  /// Of one row of four f32.
  Values softmax_of(const Values& row) {
    Case c = test::named_case(GetParam());
    Call call{{{"O0", 1}, {"N", 4}}};
    std::vector<Buffer> tensors = test::arguments(c.program, call);
    tensors[0].set(row);
    test::run(c.program, call, tensors);
    return tensors[1].get();
  }
};
INSTANTIATE_TEST_SUITE_P(Programs, SoftmaxValues,
                         ::testing::Values("softmax_f32_f32_resident_2d", "softmax_f32_f32_streaming_2d"));

TEST_P(SoftmaxValues, InfinitiesAndNaNAreAsInATen) {
  auto all_nan = [](const Values& row) {
    return std::all_of(row.begin(), row.end(), [](double x) { return std::isnan(x); });
  };
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(all_nan(softmax_of({-kInfinity, -kInfinity, -kInfinity, -kInfinity})));
  EXPECT_TRUE(all_nan(softmax_of({1, kInfinity, 2, 3})));
  EXPECT_TRUE(all_nan(softmax_of({1, nan, 2, 3})));
  EXPECT_EQ(softmax_of({0, -kInfinity, 0, -kInfinity}), (Values{0.5, 0, 0.5, 0}));
  EXPECT_EQ(softmax_of({3e38, 3e38, 3e38, 3e38}), (Values{0.25, 0.25, 0.25, 0.25}));
}

}  // namespace
}  // namespace tessera
