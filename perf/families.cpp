#include "perf/families.h"

#include <sstream>

#include "perf/call_words.h"

namespace tessera::perf {
namespace {

constexpr const char* kSpeed = R"(
[add]
add 16384x16384 --dtype f32
add 16384x32768 --dtype bf16
add 8192x8192 --dtype bf16
add 16384x16384 --other 1x16384 --dtype bf16

[softmax_bf16]
softmax 262144x1024 --dtype bf16
softmax 131072x2048 --dtype bf16
softmax 65536x4096 --dtype bf16
softmax 32768x8192 --dtype bf16
softmax 16384x16384 --dtype bf16

[softmax_f32]
softmax 131072x1024 --dtype f32
softmax 65536x2048 --dtype f32
softmax 32768x4096 --dtype f32
softmax 16384x8192 --dtype f32
softmax 8192x16384 --dtype f32

[softmax_other]
softmax 2097152x128 --dtype bf16
softmax 524288x512 --dtype bf16
softmax 8192x32768 --dtype bf16
softmax 1024x262144 --dtype f32
softmax 64x1024x1024 --dim 1 --dtype bf16
softmax 100000x1000 --dtype f16

[linear]
linear 8192x8192x8192
linear 4096x4096x4096
linear 4096x768x3072
linear 128x4096x16384
linear 1000x1000x1000
linear 4096x4096x4096 --dtype f32

[linear_gelu]
linear_gelu 8192x8192x8192
linear_gelu 4096x4096x4096
linear_gelu 4096x768x3072
linear_gelu 4096x768x3072 --approximate tanh
linear_gelu 128x4096x16384
linear_gelu 4096x4096x4096 --dtype f32

[attention_d128]
attention 16x16x1024x128
attention 8x16x2048x128
attention 4x16x4096x128
attention 2x16x8192x128
attention 1x16x16384x128

[attention_d128_causal]
attention 16x16x1024x128 --causal
attention 8x16x2048x128 --causal
attention 4x16x4096x128 --causal
attention 2x16x8192x128 --causal
attention 1x16x16384x128 --causal

[attention_d64]
attention 16x32x1024x64
attention 8x32x2048x64
attention 4x32x4096x64
attention 2x32x8192x64
attention 1x32x16384x64
attention 16x32x1024x64 --causal
attention 8x32x2048x64 --causal
attention 4x32x4096x64 --causal
attention 2x32x8192x64 --causal
attention 1x32x16384x64 --causal

[attention_other]
attention 4x8x4096x256
attention 4x8x4096x256 --causal
attention 2x32x4096x128 --causal --kv-heads 8
attention 8x32x1x128 --kv-length 8192
attention 4x16x1024x64 --dtype f32

[odd]
linear 333x520x776
linear 512x1001x1024
linear 512x1024x777
linear_gelu 333x520x776
linear_gelu 1000x1001x777
attention 4x8x300x40
attention 4x8x300x72
attention 4x8x300x80 --causal
attention 4x8x300x100
attention 4x8x1x80 --kv-length 300
attention 4x8x17x100 --kv-length 300
attention 4x8x300x72 --mask bool
attention 4x8x300x100 --mask added
attention 4x8x299x40 --causal --dtype f16

[block]
linear 8192x1024x1536
linear 8192x1024x1024
linear_gelu 8192x1024x4096
linear 8192x4096x1024
attention 8x16x1024x64 --causal --kv-heads 4

[encoder]
linear 64x768x2304
linear 64x768x768
linear_gelu 64x768x3072
linear 64x3072x768
attention 8x12x16x64 --mask bool
linear 256x768x2304
linear 256x768x768
linear_gelu 256x768x3072
linear 256x3072x768
attention 8x12x64x64 --mask bool
linear 1024x768x2304
linear 1024x768x768
linear_gelu 1024x768x3072
linear 1024x3072x768
attention 8x12x256x64 --mask bool
attention 8x12x16x32 --mask bool
attention 8x12x64x32 --mask bool
)";

constexpr const char* kAccuracy = R"(
[accuracy]
add 1000x1000
add 128x1x513 --other 257x513
linear 512x1024x768
linear 77x130x33 --no-bias
linear_gelu 512x1024x768
linear_gelu 77x130x33 --approximate tanh
linear_gelu 200x136x264 --training
softmax 1024x1000
softmax 64x33x100 --dim 1
softmax 8x40000
attention 2x4x257x64
attention 2x4x257x64 --causal
attention 1x8x100x128 --kv-heads 2 --kv-length 333
attention 2x4x128x40 --mask bool
attention 2x4x128x256 --mask added
flash_attention 2x4x200x96 --causal
)";

constexpr const char* kSmall = R"(
[host_time]
add 64x64
linear 64x64x64
linear_gelu 64x64x64
softmax 64x64
attention 1x1x64x64
)";

constexpr const char* kDevicePrograms = R"(
[linear]
linear 8192x8192x8192
linear 4096x768x3072
[linear_128x128]
linear 4096x4096x4096
[linear_gelu]
linear_gelu 8192x8192x8192
linear_gelu 4096x768x3072
[linear_gelu_128x128]
linear_gelu 4096x4096x4096
[attention]
attention 4x16x4096x128
[attention_optimistic]
attention 4x16x4096x128
[attention_causal]
attention 4x16x4096x128 --causal
[attention_causal_optimistic]
attention 4x16x4096x128 --causal
)";

/// Lists under headings in brackets, one call per line.
std::vector<CallList> lists_of(const char* text) {
  std::vector<CallList> lists;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) continue;
    if (line.front() == '[') {
      lists.push_back({line.substr(1, line.size() - 2), {}});
    } else {
      lists.back().calls.push_back(call_from_text(line));
    }
  }
  return lists;
}

}  // namespace

std::vector<CallList> speed_families() {
  return lists_of(kSpeed);
}

std::vector<CallList> device_program_calls() {
  return lists_of(kDevicePrograms);
}

std::vector<CallSpec> accuracy_calls() {
  std::vector<CallSpec> calls;
  const CallList list = lists_of(kAccuracy).front();
  for (CallSpec call : list.calls) {
    for (DType dtype : {f32, f16, bf16}) {
      call.dtype = dtype;
      calls.push_back(call);
    }
  }
  return calls;
}

std::vector<CallSpec> small_calls() {
  return lists_of(kSmall).front().calls;
}

}  // namespace tessera::perf
