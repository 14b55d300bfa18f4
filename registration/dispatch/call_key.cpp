#include "registration/dispatch/call_key.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace tessera::dispatch {

CallKey::CallKey(const Call& call, Policy policy, int device) {
  const auto add = [&](std::int64_t word) { words_[count_++] = word; };
  add(reinterpret_cast<std::int64_t>(&call.op()));
  add(static_cast<std::int64_t>(policy) << 32U | static_cast<std::uint32_t>(device));
  for (const Call::Named& flag : call.flags()) add(flag.value);
  for (const TensorView& t : call.tensors()) {
    add(static_cast<std::int64_t>(t.dtype) << 16U | t.rank << 8U | alignment_of(t));
    for (int i = 0; i < t.rank; ++i) add(t.sizes[i]);
    for (int i = 0; i < t.rank; ++i) add(t.strides[i]);
  }
}

std::size_t WordsHash::operator()(std::span<const std::int64_t> words) const {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(words.data()), words.size_bytes()});
}

bool WordsEqual::operator()(std::span<const std::int64_t> a, std::span<const std::int64_t> b) const {
  return std::ranges::equal(a, b);
}

}  // namespace tessera::dispatch
