#include "tests/support/same_result.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <random>

#include "tile_core/base/error.h"

namespace tessera::test {
namespace {

std::vector<std::int64_t> sizes_of(const Program& program, const TensorDecl& tensor, const Call& call) {
  std::vector<std::int64_t> sizes;
  for (DimId dim : tensor.dims) sizes.push_back(call.dims.at(program.dim(dim).name));
  return sizes;
}

void fill(Buffer& buffer, double mean, bool infinite, std::mt19937& random) {
  std::normal_distribution<double> normal(mean);
  std::uniform_int_distribution<int> integer(0, buffer.dtype() == boolean ? 1 : 7);
  std::vector<double> values(static_cast<std::size_t>(buffer.elements()));
  for (double& value : values) value = is_float(buffer.dtype()) ? normal(random) : integer(random);
  if (infinite && is_float(buffer.dtype()) && !values.empty())
    values.front() = values.back() = std::numeric_limits<double>::infinity();
  buffer.set(values);
}

bool same(double a, double b, double allowed) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b ? std::signbit(a) == std::signbit(b) || allowed > 0 : std::abs(a - b) <= allowed;
}

}  // namespace

::testing::AssertionResult same_values(const std::string& tensor, const std::vector<double>& before,
                                       const std::vector<double>& after, double tolerance, double floor) {
  double largest = floor;
  for (double value : before) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (same(before[i], after[i], tolerance * largest)) continue;
    return ::testing::AssertionFailure()
           << fmt::format("element {} of '{}' was {} and is {}, the largest is {}", i, tensor, before[i],
                          after[i], largest);
  }
  return ::testing::AssertionSuccess();
}

std::vector<Buffer> arguments(const Program& program, const Call& call) {
  std::mt19937 random(call.seed);
  std::vector<Buffer> tensors;
  double mean = call.mean;
  for (const TensorDecl& tensor : program.tensors) {
    Buffer& buffer = tensors.emplace_back(tensor.dtype, sizes_of(program, tensor, call));
    if (tensor.output) {
      double unwritten = is_float(tensor.dtype) ? std::numeric_limits<double>::quiet_NaN() : -1;
      buffer.set(std::vector<double>(static_cast<std::size_t>(buffer.elements()), unwritten));
    } else {
      fill(buffer, mean, call.infinite + 1 == static_cast<int>(tensors.size()), random);
      if (call.alternating) mean = -mean;
    }
  }
  return tensors;
}

void run(const Program& program, const Call& call, std::vector<Buffer>& tensors,
         const InterpretOptions& options) {
  std::vector<TensorView> views;
  for (Buffer& tensor : tensors) views.push_back(tensor.view());
  std::vector<double> scalars;
  for (const ScalarDecl& scalar : program.scalars) scalars.push_back(call.scalars.at(scalar.name));
  interpret(program, views, scalars, options);
}

std::vector<std::vector<double>> outputs(const Program& program, const Call& call,
                                         const InterpretOptions& options) {
  std::vector<Buffer> tensors = arguments(program, call);
  run(program, call, tensors, options);
  std::vector<std::vector<double>> result;
  for (const Buffer& tensor : tensors) result.push_back(tensor.get());
  return result;
}

bool accumulates(const Program& program) {
  bool found = false;
  for (std::size_t i = 0; i < program.tensors.size(); ++i)
    found = found || accumulates_into(program, static_cast<TensorId>(i));
  return found;
}

std::vector<InterpretOptions> schedules(const Program& program) {
  auto roles = [](const Inst& inst) { return std::holds_alternative<Roles>(inst.op); };
  bool has_roles = std::any_of(program.body.insts.begin(), program.body.insts.end(), roles);
  std::vector<InterpretOptions> result;
  for (Landing landing : {Landing::last, Landing::first}) {
    if (landing == Landing::first && program.stage < Stage::synced) continue;
    result.push_back({.landing = landing});
    if (!has_roles) continue;
    result.push_back({.landing = landing, .order = Order::last});
    for (unsigned seed : {1U, 2U, 3U})
      result.push_back({.landing = landing, .order = Order::random, .seed = seed});
  }
  return result;
}

::testing::AssertionResult same_result(const Program& before, const Program& after, const Call& call,
                                       double tolerance) {
  std::vector<std::vector<double>> expected = outputs(before, call);
  for (const InterpretOptions& options : schedules(after)) {
    std::vector<std::vector<double>> actual = outputs(after, call, options);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (auto result = same_values(before.tensors[i].name, expected[i], actual[i], tolerance); !result)
        return result;
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace tessera::test
