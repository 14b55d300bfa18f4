#include "registration/dispatch/lowering.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "tile_core/autotune/key.h"
#include "tile_core/base/env.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"
#include "tile_core/runtime/profiler.h"

namespace tessera::dispatch {

ops::Variant variant_of(const autotune::Variant& variant) {
  return {variant.tiles, variant.schedule};
}
autotune::Variant variant_of(const ops::Variant& variant) {
  return {variant.tiles, variant.schedule};
}

std::shared_ptr<const Executable> lower(const ops::Operator& op, const Facts& facts,
                                        const autotune::Variant& variant, const Target& target) {
  return lower_to_cuda(op.program(facts, variant.tiles), facts, variant.schedule, target);
}

namespace {

Lowered lower_and_register(const ops::Operator& op, const Facts& facts, const autotune::Variant& variant,
                           const Target& target) {
  const profiler::Range range("tessera: lower " + std::string(op.name));
  const std::shared_ptr<const Executable> executable = lower(op, facts, variant, target);
  Lowered made{.kernel = &kernel_store::get(executable->kernel, target)};
  const Program& program = executable->program;
  for (const CoveredDim& covered : executable->kernel.covered) {
    const TensorDecl& tensor = program.tensors[static_cast<std::size_t>(covered.tensor)];
    const DimId dim = tensor.dims[static_cast<std::size_t>(covered.dim)];
    const auto at = made.covered.emplace(program.dim(dim).name, covered.tile).first;
    at->second = std::min(at->second, covered.tile);
  }
  return made;
}

}  // namespace

const Lowered& lowered(const ops::Operator& op, const Facts& facts, const autotune::Variant& variant,
                       const Target& target) {
  static auto* known = new std::unordered_map<std::string, Lowered>;
  static std::mutex mutex;  // held for look-ups only

  env::dumps_anything();  // throws where the setting is not legal: no fault of this kernel
  const autotune::Key family{std::string(op.name), facts, {}, "", target.arch};
  const std::string name = autotune::family(family) + " " + autotune::to_text(variant);
  {
    const std::scoped_lock lock(mutex);
    const auto found = known->find(name);
    if (found != known->end()) return found->second;
  }
  Lowered made;
  try {
    made = lower_and_register(op, facts, variant, target);
  } catch (const UserError& error) {
    made.problem = error.what();
  } catch (const std::exception& error) {  // a mistake of ours must not stop a call that ATen can run
    made.problem = error.what();
    log::warn_once(name, fmt::format("{} cannot be compiled: {}", name, made.problem));
  }
  const std::scoped_lock lock(mutex);
  return known->try_emplace(name, std::move(made)).first->second;  // never erased
}

}  // namespace tessera::dispatch
