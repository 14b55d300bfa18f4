#include "registration/dispatch/memo.h"

#include "registration/dispatch/call_key.h"
#include "registration/dispatch/torch_error.h"
#include "tessera/policy.h"

namespace tessera::dispatch {
namespace {

/// Of one thread.
struct Remembered {
  static constexpr std::size_t kMost = 1024;
  std::uint64_t epoch = 0;
  CallSet calls;
};
thread_local Remembered remembered;

}  // namespace

bool Memo::says_native() const {
  return remembered.epoch == epoch_ && with_torch_errors(policy) == Policy::automatic &&
         remembered.calls.contains(key_.words());
}

void Memo::remember_native() const {
  const auto words = key_.words();
  if (words.empty()) return;
  if (remembered.epoch != epoch_ || remembered.calls.size() >= Remembered::kMost) remembered.calls.clear();
  remembered.epoch = epoch_;
  remembered.calls.emplace(words.begin(), words.end());
}

}  // namespace tessera::dispatch
