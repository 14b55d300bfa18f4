#include "tile_core/interpreter/instance.h"

#include <fmt/format.h>
#include <utility>

#include "tile_core/interpreter/fibers.h"

namespace tessera::interpreter {

Instance::Instance(const Program& program, int n) : number(n), name("the program"), frame(program) {}

Instance::Instance(const Program& program, int n, int role_number, const Role& r, int i)
    : number(n), name(fmt::format("role {}", role_number)), role(&r), index(i), frame(program) {
  if (r.instances > 1) name += fmt::format(" instance {}", i);
}

void Instance::enter(const Frame& start) {
  static_cast<Progress&>(*this) = {};
  frame = start;
}

Event Instance::act() {
  Event event{Agent::threads, number, ++acts};
  own.learn(event);
  return event;
}

void Instance::wait(const Inst& inst, std::function<bool()> condition, std::function<std::string()> what) {
  waits_in = &inst;
  goes_on = std::move(condition);
  lacks = std::move(what);
  fiber->yield();
  waits_in = nullptr;
}

}  // namespace tessera::interpreter
