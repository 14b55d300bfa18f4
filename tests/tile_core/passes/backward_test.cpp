#include <cmath>
#include <gtest/gtest.h>

#include "tests/support/cases.h"
#include "tests/support/emulated_result.h"
#include "tile_core/passes/pipeline.h"

/// The gradients of attention, written in the language, against differences of the loss in float64.
namespace tessera {
namespace {

using test::Call;
using Values = std::vector<double>;

constexpr std::size_t kI = 21, kJ = 19, kD = 7, kE = 5;
constexpr double kScale = 0.3;

/// Inputs by name, all [rows, columns] in order.
struct Inputs {
  Values q, k, v, grad;
};

/// The weights of row i, and the logarithm of their sum before it was divided out.
std::pair<Values, double> row(const Inputs& x, std::size_t i) {
  Values weights;
  double total = 0;
  for (std::size_t j = 0; j < kJ; ++j) {
    double score = 0;
    for (std::size_t d = 0; d < kD; ++d) score += x.q[i * kD + d] * x.k[j * kD + d];
    weights.push_back(std::exp(kScale * score));
    total += weights.back();
  }
  for (double& w : weights) w /= total;
  return {weights, std::log(total)};
}

double output(const Inputs& x, const Values& weights, std::size_t e) {
  double sum = 0;
  for (std::size_t j = 0; j < kJ; ++j) sum += weights[j] * x.v[j * kE + e];
  return sum;
}

/// sum(grad * output), whose gradients are wanted.
double loss(const Inputs& x) {
  double sum = 0;
  for (std::size_t i = 0; i < kI; ++i) {
    Values weights = row(x, i).first;
    for (std::size_t e = 0; e < kE; ++e) sum += x.grad[i * kE + e] * output(x, weights, e);
  }
  return sum;
}

Values differences(Inputs x, Values Inputs::*input) {
  constexpr double kStep = 0x1p-13;
  Values result;
  for (double& element : x.*input) {
    double before = element;
    element = before + kStep;
    double above = loss(x);
    element = before - kStep;
    result.push_back((above - loss(x)) / (2 * kStep));
    element = before;
  }
  return result;
}

/// Runs a gradient's program, and what the passes make of it, on random inputs and on what the forward keeps.
void expect_gradients(const char* name, const std::map<std::string, Values Inputs::*>& gradients) {
  test::Case c = test::named_case(name);
  Call call{{{"I", kI}, {"J", kJ}, {"D", kD}, {"E", kE}}, {{"scale", kScale}}};
  test::Setting setting;
  Program ready =
      lower(c.program, {test::facts_of(c.program, call, setting), setting.schedule, setting.target});
  for (const Program& program : {c.program, ready}) {
    std::vector<Buffer> tensors = test::arguments(program, call);  // q, k, v, grad, lse, delta, gradients
    Inputs x{tensors[0].get(), tensors[1].get(), tensors[2].get(), tensors[3].get()};
    Values lse;
    Values delta(kI, 0.0);
    for (std::size_t i = 0; i < kI; ++i) {
      auto [weights, logsumexp] = row(x, i);
      lse.push_back(logsumexp);
      for (std::size_t e = 0; e < kE; ++e) delta[i] += x.grad[i * kE + e] * output(x, weights, e);
    }
    tensors[4].set(lse);
    tensors[5].set(delta);
    test::run(program, call, tensors);
    for (std::size_t i = 6; i < tensors.size(); ++i) {
      const std::string& output = program.tensors[i].name;
      EXPECT_TRUE(test::same_values(output, differences(x, gradients.at(output)), tensors[i].get(), 1e-5));
    }
  }
}

TEST(Backward, OfTheQuery) {
  expect_gradients("attention_dq", {{"dq", &Inputs::q}});
}

TEST(Backward, OfKeyAndValue) {
  expect_gradients("attention_dkv", {{"dk", &Inputs::k}, {"dv", &Inputs::v}});
}

}  // namespace
}  // namespace tessera
