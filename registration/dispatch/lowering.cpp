#include "registration/dispatch/lowering.h"

#include <mutex>
#include <unordered_map>

#include "tile_core/autotune/key.h"
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

Lowered lowered(const ops::Operator& op, const Facts& facts, const autotune::Variant& variant,
                const Target& target) {
  static auto* known = new std::unordered_map<std::string, Lowered>;
  static std::mutex mutex;  // held for look-ups only
  const autotune::Key family{std::string(op.name), facts, {}, "", target.arch};
  const std::string name = autotune::family(family) + " " + autotune::to_text(variant);
  {
    const std::scoped_lock lock(mutex);
    const auto found = known->find(name);
    if (found != known->end()) return found->second;
  }
  Lowered made;
  try {
    const profiler::Range range("tessera: lower " + std::string(op.name));
    made.kernel = &kernel_store::get(lower(op, facts, variant, target)->kernel, target);
  } catch (const UserError& error) {
    made.problem = error.what();
  } catch (const InternalError& error) {  // a mistake of ours must not stop a call that ATen can run
    made.problem = error.what();
    log::warn_once(name, made.problem);
  }
  const std::scoped_lock lock(mutex);
  return known->insert_or_assign(name, made).first->second;
}

}  // namespace tessera::dispatch
