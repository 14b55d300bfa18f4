#include "tests/support/emulated_result.h"

#include <fmt/format.h>

#include "tests/support/emulate.h"
#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/ir/operands.h"
#include "tile_core/passes/pipeline.h"

namespace tessera::test {
namespace {

std::vector<Storage> stored(std::vector<Buffer>& tensors, const Setting& setting) {
  std::vector<Storage> result;
  for (Buffer& tensor : tensors) result.emplace_back(tensor, setting.arrangement);
  return result;
}

/// The interpreter adds up a sum in the axis' order, a kernel by thread, warp and block, and tiles in the
/// order of its roles.
bool reorders_sums(const Program& program) {
  bool found = accumulates(program);
  for_each_inst(program.body, [&](const Inst& inst) {
    const Reduce* reduce = std::get_if<Reduce>(&inst.op);
    const ReduceWarp* of_warps = std::get_if<ReduceWarp>(&inst.op);
    found = found || (reduce != nullptr && reduce->fn == ReduceFn::sum) ||
            (of_warps != nullptr && of_warps->fn == ReduceFn::sum);
  });
  return found;
}

::testing::AssertionResult emulates(const Program& ready, const KernelText& kernel, const Call& call,
                                    const Setting& setting, Landing landing, double tolerance, double floor) {
  std::vector<Buffer> tensors = arguments(ready, call);
  std::vector<Storage> storage = stored(tensors, setting);
  std::vector<TensorView> views;
  for (const Storage& s : storage) views.push_back(s.view());
  std::vector<double> scalars;
  for (const ScalarDecl& scalar : ready.scalars) scalars.push_back(call.scalars.at(scalar.name));
  emulate(kernel, views, scalars, landing);
  std::vector<std::vector<double>> expected = outputs(ready, call, {.landing = landing});
  for (std::size_t i = 0; i < storage.size(); ++i) {
    const std::string& name = ready.tensors[i].name;
    if (auto same = same_values(name, expected[i], storage[i].get(), tolerance, floor); !same) return same;
    if (!storage[i].gaps_are_untouched())
      return ::testing::AssertionFailure() << "bytes between the elements of '" << name << "' are written";
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult emulates_ready(const Program& ready, const Call& call, const Setting& setting,
                                          double tolerance, double floor) {
  KernelText kernel = emit_cuda(ready, facts_of(ready, call, setting), setting.schedule, Prelude::emulated);
  for (Landing landing : {Landing::last, Landing::first}) {
    if (auto same = emulates(ready, kernel, call, setting, landing, tolerance, floor); !same) return same;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace

std::string to_text(const Setting& setting) {
  return fmt::format("{}, {}, {}", to_text(setting.schedule), name_of(setting.arrangement),
                     setting.target.arch);
}

Facts facts_of(const Program& program, const Call& call, const Setting& setting) {
  Facts facts;
  std::vector<Buffer> tensors = arguments(program, call);
  for (const Storage& s : stored(tensors, setting)) facts.tensors.push_back(facts_of(s.view()));
  return facts;
}

::testing::AssertionResult emulates_lowered(const Program& ready, const Call& call, const Setting& setting,
                                            double tolerance, double floor) {
  return emulates_ready(ready, call, setting, reorders_sums(ready) ? tolerance : 0, floor);
}

::testing::AssertionResult emulates(const Program& program, const Call& call, const Setting& setting,
                                    double tolerance) {
  try {
    Facts facts = facts_of(program, call, setting);
    Program ready = lower(program, {facts, setting.schedule, setting.target});
    return emulates_lowered(ready, call, setting, tolerance);
  } catch (const std::exception& error) {
    return ::testing::AssertionFailure() << error.what();
  }
}

::testing::AssertionResult emulates_as_it_is(const Program& ready, const Call& call, double tolerance) {
  try {
    return emulates_ready(ready, call, {}, tolerance, 0);
  } catch (const std::exception& error) {
    return ::testing::AssertionFailure() << error.what();
  }
}

}  // namespace tessera::test
