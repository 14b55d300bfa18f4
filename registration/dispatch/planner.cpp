#include "registration/dispatch/planner.h"

#include <mutex>
#include <shared_mutex>

#include "registration/dispatch/lowering.h"
#include "registration/records/shipped.h"
#include "tile_core/base/log.h"
#include "tile_core/runtime/driver.h"

namespace tessera::dispatch {
namespace {

constexpr std::size_t kMostUsedPlans = 1 << 16;

void warn(const std::string& problem) {
  if (!problem.empty()) log::warn_once(problem, problem);
}

/// The records and plans of this process.
struct Library {
  Library() {
    for (const ShippedRecords& file : shipped_records())
      warn(shipped.add_text(file.text, std::string(file.name)));
    if (const std::string path = env::records(); !path.empty()) warn(user.add_file(path));
    if (const std::string path = env::plans(); !path.empty()) frozen = autotune::FrozenPlans::from_file(path);
  }

  std::shared_mutex mutex;
  autotune::Records user, shipped;
  autotune::FrozenPlans frozen, used;
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

}  // namespace

autotune::Device device_of(int index) {
  const driver::DeviceInfo& info = driver::device_info(index);
  const std::string arch = env::arch();
  return {info.name, arch.empty() ? Target::for_capability(info.major, info.minor) : Target::named(arch)};
}

autotune::Key key_of(const ops::Operator& op, const ops::Problem& problem, const autotune::Device& device) {
  return {std::string(op.name), problem.facts, problem.dims, device.name, device.target.arch};
}

autotune::Plan plan_of(const ops::Operator& op, const ops::Problem& problem, const autotune::Device& device,
                       Policy policy) {
  const auto illegal = [&](const autotune::Variant& variant) {
    return lowered(op, problem.facts, variant, device.target).problem;
  };
  const auto space = space_of(op, problem, device.target);
  Library& known = library();
  const std::shared_lock lock(known.mutex);
  return autotune::choose(key_of(op, problem, device), space, illegal, policy,
                          {&known.frozen, &known.user, &known.shipped});
}

void note_used(const autotune::Key& key, const autotune::Plan& plan) {
  Library& known = library();
  const std::unique_lock lock(known.mutex);
  if (known.used.size() < kMostUsedPlans) known.used.add(key, plan.tile);
}

void write_used_plans(const std::string& path) {
  Library& known = library();
  const std::shared_lock lock(known.mutex);
  known.used.write(path);
}

void read_frozen_plans(const std::string& path) {
  autotune::FrozenPlans plans = autotune::FrozenPlans::from_file(path);
  Library& known = library();
  const std::unique_lock lock(known.mutex);
  known.frozen = std::move(plans);
}

void add_user_record(const autotune::Record& record) {
  Library& known = library();
  const std::unique_lock lock(known.mutex);
  known.user.add(record);
  if (const std::string path = env::records(); !path.empty()) known.user.write(path);
}

}  // namespace tessera::dispatch
