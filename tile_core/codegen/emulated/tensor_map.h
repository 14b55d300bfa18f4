#pragma once
// What a map of the copy engine holds in emulation: 128 bytes as a CUtensorMap, in the open. The host fills
// it as cuTensorMapEncodeTiled would; dims stand with the contiguous one first.
struct alignas(64) TensorMap {
  static constexpr int kMaxRank = 5;
  unsigned char* data;
  long long size[kMaxRank];    // elements
  long long stride[kMaxRank];  // bytes
  int box[kMaxRank];           // elements
  short rank;
  short element_bytes;
  int swizzle;  // bytes
};
static_assert(sizeof(TensorMap) == 128);
