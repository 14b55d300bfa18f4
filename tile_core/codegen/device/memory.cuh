// Accesses of N elements to global and shared memory: one instruction of up to 16 bytes where the address allows it.
template <int Bytes>
struct Word;
template <>
struct Word<1> {
  using type = unsigned char;
};
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned int;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};

template <int N, typename T>
union Pack {
  typename Word<N * sizeof(T)>::type word;
  T elements[N];
  __device__ __forceinline__ Pack() {}
};

// The elements of one access and its word. Pairs of 16 bits stay in their register: through a union they would be copied.
template <int N, typename T>
__device__ __forceinline__ void unpack(T* to, const typename Word<N * sizeof(T)>::type& word) {
  if constexpr (N > 2 && sizeof(T) == 2) {
    unpack<N / 2>(to, reinterpret_cast<const typename Word<N>::type*>(&word)[0]);
    unpack<N / 2>(to + N / 2, reinterpret_cast<const typename Word<N>::type*>(&word)[1]);
  } else if constexpr (N == 2 && sizeof(T) == 2) {
    set_word(to, word);
  } else {
    Pack<N, T> pack;
    pack.word = word;
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = pack.elements[i];
  }
}
template <int N, typename T>
__device__ __forceinline__ void pack(typename Word<N * sizeof(T)>::type& word, const T* from) {
  if constexpr (N > 2 && sizeof(T) == 2) {
    pack<N / 2>(reinterpret_cast<typename Word<N>::type*>(&word)[0], from);
    pack<N / 2>(reinterpret_cast<typename Word<N>::type*>(&word)[1], from + N / 2);
  } else if constexpr (N == 2 && sizeof(T) == 2) {
    word = word_of(from);
  } else {
    Pack<N, T> pack;
#pragma unroll
    for (int i = 0; i < N; ++i) pack.elements[i] = from[i];
    word = pack.word;
  }
}

/// Reads N elements that nothing writes while the kernel runs; zeros where not inside.
template <int N, typename T>
__device__ __forceinline__ void load_global(T* to, const T* from, bool inside) {
  using W = typename Word<N * sizeof(T)>::type;
  W word = W{};
  if (inside) word = __ldg(reinterpret_cast<const W*>(from));
  unpack<N>(to, word);
}

template <int N, typename T>
__device__ __forceinline__ void store_global(T* to, const T* from, bool inside) {
  typename Word<N * sizeof(T)>::type word;
  pack<N>(word, from);
  if (inside) *reinterpret_cast<decltype(word)*>(to) = word;
}

/// Adds N elements, each at once; nothing is known of the order (PTX ISA, red: vectors from sm_90 on).
template <int N>
__device__ __forceinline__ void accumulate_global(float* to, const float* from, bool inside) {
  if (!inside) return;
#if __CUDA_ARCH__ >= 900
  if constexpr (N == 4) {
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]) : "memory");
    return;
  } else if constexpr (N == 2) {
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(from[0]), "f"(from[1]) : "memory");
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to + i), "f"(from[i]) : "memory");
}

template <int N, typename T>
__device__ __forceinline__ void read_shared(T* to, const T* from) {
  unpack<N>(to, *reinterpret_cast<const typename Word<N * sizeof(T)>::type*>(from));
}

template <int N, typename T>
__device__ __forceinline__ void write_shared(T* to, const T* from) {
  typename Word<N * sizeof(T)>::type word;
  pack<N>(word, from);
  *reinterpret_cast<decltype(word)*>(to) = word;
}

template <int N, typename T>
__device__ __forceinline__ void copy(T* to, const T* from, bool inside) {
  T elements[N];
  load_global<N>(elements, from, inside);
  write_shared<N>(to, elements);
}

/// Copies 8 elements that may begin at any, of which `count` exist; zeros in place of the others. Reads the aligned words
/// around those that exist, and no word that has none of them: up to 14 bytes beside the tensor, on the page of an element.
template <int N, typename T>
__device__ __forceinline__ void copy_realigned(T* to, const T* from, int count) {
  static_assert(N == 8 && sizeof(T) == 2);
  const unsigned long long address = reinterpret_cast<unsigned long long>(from);
  const uint4* aligned = reinterpret_cast<const uint4*>(address & ~15ull);
  const int skipped = static_cast<int>(address % 16 / 2);
  uint4 low = uint4{}, high = uint4{};
  if (count > 0) low = __ldg(aligned);
  if (count > 8 - skipped && skipped > 0) high = __ldg(aligned + 1);
  unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = skipped & 4 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = skipped & 2 ? words[i + 1] : words[i];
  const int bits = skipped % 2 * 16;
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], bits);
  if (count < 8) {
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = count > 2 * i + 1 ? words[i] : count == 2 * i + 1 ? words[i] & 0xffffu : 0;
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

/// Starts a copy of N elements, 4, 8 or 16 bytes, to shared memory; zeros where not inside (PTX ISA, cp.async).
template <int N, typename T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool inside) {
  constexpr int kBytes = N * sizeof(T);
  const unsigned address = shared_address(to);
  const int bytes = inside ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(address), "l"(from), "r"(bytes), "n"(kBytes) : "memory");
  }
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Where the byte `offset` of an atom lies whose rows are Width bytes: the 16-byte chunks of a row are permuted by its number
/// (PTX ISA, "Swizzling Modes").
template <int Width>
__device__ __forceinline__ unsigned swizzled(unsigned offset) {
  return offset ^ (offset >> 3 & (Width - 16));
}
