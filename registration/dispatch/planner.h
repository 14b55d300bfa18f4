#pragma once
#include <string>

#include "ops/operator.h"
#include "tile_core/autotune/device.h"
#include "tile_core/autotune/plan.h"

/// Plans for calls on devices, which need not be in this machine: autotune::choose with what this process
/// knows.
namespace tessera::dispatch {

/// The device of torch's and the driver's number; TESSERA_ARCH overrides its architecture. Throws UserError
/// where Tessera does not know the architecture.
autotune::Device device_of(int index);

autotune::Key key_of(const ops::Operator& op, const ops::Problem& problem, const autotune::Device& device);

/// The versions in this process; what is not there is empty.
const autotune::Versions& versions_here();

/// Reads the files that TESSERA_RECORDS and TESSERA_PLANS name, once; the first plan does so, too.
void read_files_of_environment();

/// Reads the files that the environment names at the first use. A corrupt file of frozen plans throws
/// UserError.
autotune::Plan plan_of(const ops::Operator& op, const ops::Problem& problem, const autotune::Device& device,
                       Policy policy);

/// Adds a record as if TESSERA_RECORDS held it, in place of one of the same key; from any thread. Calls that
/// have been decided keep their plan.
void use_record(autotune::Record record);

/// Plans that are remembered as used: a server sees ever new lengths of sequences.
inline constexpr std::size_t kMostUsedPlans = 1 << 16;

/// A plan that a call of this process runs by.
void note_used(const autotune::Key& key, const autotune::Plan& plan);
/// Warns where there were more than are remembered.
void write_used_plans(const std::string& path);
/// The frozen plans of the file replace those in force.
void read_frozen_plans(const std::string& path);

}  // namespace tessera::dispatch
