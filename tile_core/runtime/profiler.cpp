#include "tile_core/runtime/profiler.h"

#include <atomic>
#include <nvtx3/nvToolsExt.h>  // header only: it opens a tool's library where one is attached, else costs a branch

namespace tessera::profiler {
namespace {

std::atomic<const Hook*> installed{nullptr};

}  // namespace

void install(Hook hook) {
  installed.store(new Hook(hook),
                  std::memory_order_release);  // kept: a range in another thread may still use an old one
}

Range::Range(const std::string& name) {
  nvtxRangePushA(name.c_str());
  const Hook* hook = installed.load(std::memory_order_acquire);
  if (hook == nullptr || hook->begin == nullptr) return;
  token_ = hook->begin(name.c_str());
  end_ = hook->end;
}

Range::~Range() {
  if (end_ != nullptr) end_(token_);
  nvtxRangePop();
}

}  // namespace tessera::profiler
