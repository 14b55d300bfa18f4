#pragma once
#include <string>
#include <vector>

namespace tessera {

/// Counters of a kernel that draws its tiles, of which a launch has one for itself while it runs. They stand
/// in the kernel's module, 0 from its loading on, and a launch leaves its own at 0.
inline constexpr int kCounters = 1 << 16;

/// One 8-byte field of a kernel's parameter struct, and where a launch takes it from; a counter is the number
/// of the launch's own.
struct Parameter {
  enum class Kind { pointer, size, stride, scalar_f32, scalar_i64, counter };
  Kind kind = Kind::pointer;
  int tensor = 0;  ///< pointer, size, stride: which of the program's tensors; scalar: which of its scalars
  int dim = 0;     ///< size, stride: which of that tensor's dims
  bool operator==(const Parameter&) const = default;
};

/// The number of blocks is the product over the grid axes of ceil(size / tile).
struct GridAxis {
  int tensor = 0;  ///< the size is that of this tensor's dim
  int dim = 0;
  int tile = 1;
  bool operator==(const GridAxis&) const = default;
};

/// A dim that every block covers with one tile: a larger size is an error of the call.
struct CoveredDim {
  int tensor = 0;
  int dim = 0;
  int tile = 1;
  std::string name = {};  ///< of the dim
  bool operator==(const CoveredDim&) const = default;
};

/// A map for the copy engine: which elements one box of a tensor covers. The maps stand in front of the
/// parameters, 128 bytes each. The dims of a map are the tensor's contiguous one, whose box is `swizzle`
/// bytes, then the others from the last to the first.
struct TensorMap {
  int tensor = 0;        ///< which of the program's tensors
  int contiguous = 0;    ///< its dim of stride 1
  std::vector<int> box;  ///< elements, by the tensor's dims; at most 5
  int swizzle = 0;       ///< bytes: 32, 64 or 128
  bool operator==(const TensorMap&) const = default;
};

/// A self-contained CUDA translation unit with one extern "C" kernel, and how to launch it.
struct KernelText {
  std::string name;  ///< the kernel's symbol: operator, tiles, path
  std::string text;
  int threads = 0;
  int shared_bytes = 0;  ///< dynamic shared memory
  std::vector<Parameter> parameters;
  std::vector<GridAxis> grid;
  std::vector<CoveredDim> covered;
  std::vector<TensorMap> maps;
  std::vector<int> zeroed = {};  ///< the program's tensors that a launch sets to 0: the kernel adds to them
  bool persistent = false;  ///< at most as many blocks as the device holds at a time; each visits more tiles
  bool counter = false;     ///< of a persistent one: blocks draw the tiles that they visit
  int blocks = 1;           ///< resident blocks of a multiprocessor that the kernel is built for
  int cluster = 1;          ///< blocks of a cluster, which have the grid's tiles together
  std::string digest = {};  ///< in the names of its dumps, as in those of the passes before; empty: no passes
};

/// A kernel that does nothing, to try a compiler with.
KernelText empty_kernel();

}  // namespace tessera
