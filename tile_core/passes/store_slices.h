#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "tile_core/ir/uses.h"
#include "tile_core/passes/passes.h"
#include "tile_core/passes/role_builder.h"

namespace tessera {

inline constexpr int kStoreBuffers = 2;        ///< slots of an instance
inline constexpr int kMaxStoreRowBytes = 128;  ///< of a slice

/// How a store leaves through shared memory: slices of 64 rows and up to 128 bytes of columns, written by
/// their warpgroup and copied out by the copy engine, each instance through slots of its own.
struct StoreSlices {
  AxisId rows{};  ///< of the stored tile
  AxisId columns{};
  AxisId slice_rows{};  ///< of a slice; the same axis where one slice has all
  AxisId slice_columns{};
  ValueId channel{};
  int row_slices = 1;
  int column_slices = 1;
};

/// Bytes of a row of a store's slices; 0 where it cannot leave so, whatever the layout of its tile: of 16
/// bits, which move as matrices, or added by the copy engine in place of an instruction for every few
/// elements.
int slice_row_bytes(const Program& program, const PassContext& context, const Store& store);

/// Stores of a program with roles that can leave so; declares their axes and channels, in front of the roles.
class StoreSlicer {
 public:
  StoreSlicer(const Program& in, const PassContext& context) : in_(in), context_(context), uses_(in) {}

  void declare(RoleBuilder& b);
  /// Writes the store where it can leave so; else returns false. `instance` is of the role, none where it has
  /// one.
  bool store(RoleBuilder& b, const Inst& inst, ValueId instance);

 private:
  using Key = std::tuple<ValueId, int, int>;  // a value's slice, by row and column

  std::optional<StoreSlices> plan(RoleBuilder& b, const Store& store);
  /// An axis for slices of another, of the same dim: one for all stores.
  AxisId part_of(Program& p, AxisId axis, int extent);
  ValueId slice(RoleBuilder& b, ValueId old, const StoreSlices& s, int row, int column);
  ValueId rebuilt(RoleBuilder& b, const Inst& inst, const StoreSlices& s, int row, int column);
  ValueId cut(RoleBuilder& b, ValueId old, const StoreSlices& s, int row, int column);
  Type sliced(RoleBuilder& b, Type type, const StoreSlices& s) const;
  Subscript moved(RoleBuilder& b, const Subscript& subscript, const StoreSlices& s, int row, int column);

  const Program& in_;
  const PassContext& context_;
  Uses uses_;
  std::map<std::pair<AxisId, int>, AxisId> parts_;
  std::map<const Inst*, StoreSlices> plans_;
  std::map<Key, ValueId> made_;  // of the store being written
};

}  // namespace tessera
