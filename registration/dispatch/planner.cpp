#include "registration/dispatch/planner.h"

#include <mutex>
#include <shared_mutex>

#include "ops/shapes.h"
#include "registration/dispatch/lowering.h"
#include "registration/records/shipped.h"
#include "registration/registrar.h"
#include "tile_core/base/error.h"
#include "tile_core/base/log.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/nvrtc.h"
#include "tile_core/target/chosen_target.h"

namespace tessera::dispatch {
namespace {

void warn(const std::string& problem) {
  if (!problem.empty()) log::warn_once(problem, problem);
}

autotune::FrozenPlans plans_of_environment(const std::string& path) {
  try {
    return autotune::FrozenPlans::from_file(path);
  } catch (const UserError& error) {
    throw UserError::format(
        "TESSERA_PLANS={}: {}; unset it, or write the file anew with tessera::save_plans()", path,
        error.what());
  }
}

/// The records and plans of this process.
struct Library {
  Library() {
    for (const ShippedRecords& file : shipped_records())
      warn(shipped.add_text(file.text, std::string(file.name)));
    if (const std::string path = env::records(); !path.empty()) {
      if (const std::string problem = user.add_file(path); !problem.empty())
        warn(fmt::format("TESSERA_RECORDS={}: {}; `tessera bench --record` writes such a file", path,
                         problem));
    }
    if (const std::string path = env::plans(); !path.empty()) frozen = plans_of_environment(path);
  }

  std::shared_mutex mutex;
  autotune::Records user, shipped;
  autotune::FrozenPlans frozen, used;
  bool used_is_full = false;
};

Library& library() {
  static auto* the = new Library;  // used until the end of the process
  return *the;
}

std::vector<autotune::Variant> space_of(const ops::Operator& op, const ops::Problem& problem,
                                        const Target& target) {
  std::vector<autotune::Variant> space;
  for (const ops::Variant& variant : op.space(problem, target)) space.push_back(variant_of(variant));
  return space;
}

std::string names_of(const Tiles& tiles) {
  std::string names;
  for (const auto& [name, size] : tiles) names += (names.empty() ? "" : ", ") + name;
  return names;
}

/// Why a variant cannot run a problem; empty where it can. It may come from a file: of other tiles than this
/// program's, or for a shape that one tile of it covered.
std::string problem_of(const ops::Operator& op, const ops::Problem& problem, const autotune::Variant& variant,
                       const autotune::Variant& known, const Target& target) {
  if (names_of(variant.tiles) != names_of(known.tiles))
    return fmt::format("its tiles are {}, and {}'s are {}", names_of(variant.tiles), op.name,
                       names_of(known.tiles));
  const Lowered& made = lowered(op, problem.facts, variant, target);
  if (!made.problem.empty()) return made.problem;
  for (const auto& [dim, tile] : made.covered) {
    const std::int64_t size = ops::size(problem, dim);
    if (size > tile) return fmt::format("one tile of {} covers dim {}, whose size is {}", tile, dim, size);
  }
  return "";
}

/// Of the libraries that native's times and the compiler's code depend on; empty where one is not there.
autotune::Versions find_versions() {
  autotune::Versions versions{.torch = torch_version()};
  if (driver::available()) versions.driver = driver::version_text(driver::version());
  try {
    versions.nvrtc = Nvrtc::get().version();
  } catch (const UserError&) {  // whoever compiles says so
  }
  return versions;
}

}  // namespace

const autotune::Versions& versions_here() {
  static const autotune::Versions kVersions = find_versions();
  return kVersions;
}

autotune::Device device_of(int index) {
  const driver::DeviceInfo& info = driver::device_info(index);
  const Target* const chosen = chosen_target();
  return {info.name, chosen != nullptr ? *chosen : Target::for_capability(info.major, info.minor)};
}

autotune::Key key_of(const ops::Operator& op, const ops::Problem& problem, const autotune::Device& device) {
  return {std::string(op.name), problem.facts, problem.dims, device.name, device.target.arch};
}

autotune::Plan plan_of(const ops::Operator& op, const ops::Problem& problem, const autotune::Device& device,
                       Policy policy) {
  const auto space = space_of(op, problem, device.target);
  const auto illegal = [&](const autotune::Variant& variant) {
    return problem_of(op, problem, variant, space.front(), device.target);
  };
  Library& known = library();
  const std::shared_lock lock(known.mutex);
  const autotune::Versions here = known.user.size() > 0 ? versions_here() : autotune::Versions{};
  autotune::Plan plan = autotune::choose(key_of(op, problem, device), space, illegal, policy,
                                         {&known.frozen, &known.user, &known.shipped, here});
  for (const std::string& warning : plan.warnings) warn(warning);
  return plan;
}

void read_files_of_environment() {
  if (!env::records().empty() || !env::plans().empty()) library();
}

void use_record(autotune::Record record) {
  Library& known = library();
  const std::unique_lock lock(known.mutex);
  known.user.add(std::move(record));
}

void note_used(const autotune::Key& key, const autotune::Plan& plan) {
  Library& known = library();
  const std::unique_lock lock(known.mutex);
  if (known.used.size() < kMostUsedPlans || known.used.find(key) != nullptr) {
    known.used.add(key, plan.tile);
  } else {
    known.used_is_full = true;
  }
}

void write_used_plans(const std::string& path) {
  Library& known = library();
  const std::shared_lock lock(known.mutex);
  known.used.write(path);
  if (!known.used_is_full) return;
  warn(
      fmt::format("{}: holds the first {} plans of this process; shapes that were called later are not in it",
                  path, kMostUsedPlans));
}

void read_frozen_plans(const std::string& path) {
  autotune::FrozenPlans plans = autotune::FrozenPlans::from_file(path);
  Library& known = library();
  const std::unique_lock lock(known.mutex);
  known.frozen = std::move(plans);
}

}  // namespace tessera::dispatch
