#pragma once
#include <string>
#include <vector>

#include "tile_core/ir/op.h"

namespace tessera {

/// How far a program has come; verify() knows what each stage allows. In order: a pass moves a program
/// forward.
enum class Stage : std::uint8_t { tile, mapped, masked, placed, laid_out, roled, device, synced, ready };

/// A run-time size, named by the author.
struct DimInfo {
  std::string name;
  bool operator==(const DimInfo&) const = default;
};

enum class AxisKind : std::uint8_t {
  grid,  ///< every tile of the dim is another block's
  all,   ///< one tile covers the dim
  loop,  ///< a loop steps through the dim
  part,  ///< lanes of another axis of the dim
  warps  ///< partial results of warps; has no dim
};

/// A tile's direction: `extent` lanes of a dim. A lane is valid where its index is inside the dim.
struct AxisInfo {
  std::string name;
  AxisKind kind = AxisKind::all;
  DimId dim{};
  int extent = 1;
  bool operator==(const AxisInfo&) const = default;
};

struct TensorDecl {
  std::string name;
  DType dtype = f32;
  std::vector<DimId> dims;
  bool output = false;
  bool operator==(const TensorDecl&) const = default;
};

struct ScalarDecl {
  std::string name;
  DType dtype = f32;  ///< f32 or i64
  bool operator==(const ScalarDecl&) const = default;
};

/// Blocks that run at the same time beside each other, and may copy to each other's shared memory. Their
/// tiles are neighbours along a grid axis.
struct Cluster {
  AxisId axis = AxisId::none;  ///< none: every block is alone
  int blocks = 1;
  bool alone() const { return axis == AxisId::none; }
  bool operator==(const Cluster&) const = default;
};

/// What the compiler chose for the whole kernel.
struct LaunchInfo {
  int warps = 0;            ///< per block, from Stage::laid_out on; layouts outside roles speak of these
  Cluster cluster;          ///< from Stage::mapped on
  bool persistent = false;  ///< as many blocks as the device holds at a time; a loop visits all tiles
  /// Of a persistent program whose blocks draw their next tile, from Stage::roled on by draw_tile; until then
  /// its loop steps through the tiles as that of any other.
  bool counter = false;
  int shared_bytes = 0;  ///< from Stage::ready on
  bool operator==(const LaunchInfo&) const = default;
};

/// A traced kernel: SSA over named axes. Ids index the tables.
struct Program {
  std::string name;
  Stage stage = Stage::tile;
  std::vector<DimInfo> dims;
  std::vector<AxisInfo> axes;
  std::vector<TensorDecl> tensors;
  std::vector<ScalarDecl> scalars;
  std::vector<AxisId> grid;  ///< the axes of kind grid, slowest first
  LaunchInfo launch;
  Block body;
  std::vector<Type> types;  ///< of every value

  bool operator==(const Program&) const = default;

  const AxisInfo& axis(AxisId id) const { return axes.at(index_of(id)); }
  const TensorDecl& tensor(TensorId id) const { return tensors.at(index_of(id)); }
  const DimInfo& dim(DimId id) const { return dims.at(index_of(id)); }
  const Type& type(ValueId id) const { return types.at(index_of(id)); }
  Type& type(ValueId id) { return types.at(index_of(id)); }
  /// Lanes of an axis that the tiles of a cluster have together.
  int cluster_lanes(AxisId id) const {
    return axis(id).extent * (id == launch.cluster.axis ? launch.cluster.blocks : 1);
  }
  ValueId new_value(Type type);
  AxisId new_axis(AxisInfo info);
};

/// Who walks the grid is every block or, where they form clusters, every cluster: its number, and how many
/// there are.
Op walker_index(const Cluster& cluster);
Op walker_count(const Cluster& cluster);

const char* name_of(Stage stage);
const char* name_of(AxisKind kind);

/// Whether the block's warps have roles: then Roles is the program's last statement.
inline bool has_roles(const Program& program) {
  const std::vector<Inst>& insts = program.body.insts;
  return !insts.empty() && std::holds_alternative<Roles>(insts.back().op);
}

/// Whether warps do dots on the tensor cores: from Stage::device on.
bool uses_mma(const Program& program);

/// Whether tiles are added to an output: then it starts as 0, and none is stored there.
bool accumulates_into(const Program& program, TensorId tensor);

/// The roles in order; empty where the program has none.
const std::vector<Role>& roles_of(const Program& program);

/// The number of elements of a tile.
std::int64_t elements(const Program& program, const Type& type);

}  // namespace tessera
