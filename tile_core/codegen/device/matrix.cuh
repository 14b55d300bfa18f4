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

/// Words of 32 bits of an operand of a paired product, 16 lines of its free axis by 8 of the contracted one, in a slot swizzled by
/// Width: lane l reads lines l / 4 and 8 further, of each elements 2 (l % 4) and the next; `from` is the first. Both of a line
/// follow the lines of a first operand, and stand side by side of a second. Transposed: lines of the slot are of the contracted axis.
template <int Width, bool Transposed, bool First>
__device__ __forceinline__ void read_pairs(unsigned* words, unsigned from) {
#pragma unroll
  for (int line = 0; line < 2; ++line) {
    unsigned &left = words[First ? line : 2 * line], &right = words[First ? line + 2 : 2 * line + 1];
    if constexpr (Transposed) {
      asm volatile("ld.shared.b32 %0, [%1];" : "=r"(left) : "r"(from ^ 32 * line) : "memory");
      asm volatile("ld.shared.b32 %0, [%1];" : "=r"(right) : "r"((from + Width) ^ (32 * line + (Width == 128 ? 16 : 0))) : "memory");
    } else {
      asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(left), "=r"(right) : "r"(from + 8 * Width * line) : "memory");
    }
  }
}
