#include "tessera/plans.h"

#include "registration/dispatch/dispatch.h"
#include "registration/dispatch/planner.h"

namespace tessera {

void save_plans(const std::string& path) {
  dispatch::write_used_plans(path);
}

void load_plans(const std::string& path) {
  dispatch::read_frozen_plans(path);
  dispatch::forget_decisions();
}

}  // namespace tessera
