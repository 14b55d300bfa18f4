#include <ATen/record_function.h>

#include "tile_core/runtime/profiler.h"

// What the compiler does at run time shows in torch's profiler.
namespace tessera {
namespace {

void* begin(const char* name) {
  auto* range = new at::RecordFunction(at::RecordScope::FUNCTION);
  if (range->isActive()) range->before(std::string(name));
  return range;
}

void end(void* token) {
  delete static_cast<at::RecordFunction*>(token);
}

[[maybe_unused]] const bool kInstalled = [] {
  profiler::install({begin, end});
  return true;
}();

}  // namespace
}  // namespace tessera
