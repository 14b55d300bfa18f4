// Matrices of 8 x 8 16-bit elements between a warp's registers and shared memory (PTX ISA, "ldmatrix" and "stmatrix"): lane l
// holds elements 2 (l % 4) and the next of row l / 4, or of column l / 4 where transposed. Lane 8 i + j gives the address of
// row j of matrix i.
template <int Count, bool Transposed, typename T>
__device__ __forceinline__ void write_matrices(unsigned to, const T* from) {
  if constexpr (Count == 4 && Transposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(word_of(from)), "r"(word_of(from + 2)), "r"(word_of(from + 4)), "r"(word_of(from + 6)) : "memory");
  } else if constexpr (Count == 4) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(word_of(from)), "r"(word_of(from + 2)), "r"(word_of(from + 4)), "r"(word_of(from + 6)) : "memory");
  } else if constexpr (Transposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], {%1, %2};" ::"r"(to), "r"(word_of(from)), "r"(word_of(from + 2)) : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%0], {%1, %2};" ::"r"(to), "r"(word_of(from)), "r"(word_of(from + 2)) : "memory");
  }
}

/// Two neighbours of each matrix as a word.
template <int Count, bool Transposed>
__device__ __forceinline__ void read_words(unsigned* words, unsigned from) {
  if constexpr (Count == 4 && Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4];" : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(from) : "memory");
  } else if constexpr (Count == 4) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0, %1, %2, %3}, [%4];" : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(from) : "memory");
  } else if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(from) : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(from) : "memory");
  }
}

template <int Count, bool Transposed, typename T>
__device__ __forceinline__ void read_matrices(T* to, unsigned from) {
  unsigned words[Count];
  read_words<Count, Transposed>(words, from);
#pragma unroll
  for (int i = 0; i < Count; ++i) set_word(to + 2 * i, words[i]);
}
