#include "tile_core/passes/store_slices.h"

#include <algorithm>
#include <fmt/format.h>

#include "tile_core/ir/operands.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/layouts.h"

namespace tessera {
namespace {

bool is_elementwise(const Op& op) {
  return is_pointwise(op) || std::holds_alternative<Constant>(op);
}

/// The axes of a store along its tensor's contiguous dim, and along another.
struct StoreAxes {
  AxisId rows = AxisId::none;
  AxisId columns = AxisId::none;
};
StoreAxes axes_of(const PassContext& context, const Store& store) {
  StoreAxes axes;
  const int contiguous = context.facts.tensors.at(index_of(store.tensor)).contiguous_dim;
  for (std::size_t i = 0; i < store.subscripts.size(); ++i) {
    if (store.subscripts[i].axis == AxisId::none) continue;
    (static_cast<int>(i) == contiguous ? axes.columns : axes.rows) = store.subscripts[i].axis;
  }
  return axes;
}

}  // namespace

int slice_row_bytes(const Program& program, const PassContext& context, const Store& store) {
  const Type& type = program.type(store.value);
  const TensorFacts& facts = context.facts.tensors.at(index_of(store.tensor));
  const bool moves = size_of(type.dtype) == 2 || store.accumulate;
  if (!moves || type.axes.size() != 2 || facts.alignment < kBulkAlignment || !facts.bulk) return 0;
  const StoreAxes axes = axes_of(context, store);
  if (axes.rows == AxisId::none || axes.columns == AxisId::none) return 0;
  return std::min(swizzle_of(program, type.dtype, axes.columns), kMaxStoreRowBytes);
}

AxisId StoreSlicer::part_of(Program& p, AxisId axis, int extent) {
  AxisInfo info = p.axis(axis);
  if (info.extent == extent) return axis;
  auto [part, fresh] = parts_.try_emplace({axis, extent}, axis);
  if (fresh) {
    info.kind = AxisKind::part;
    const bool another = std::any_of(parts_.begin(), parts_.end(), [&](const auto& known) {
      return known.first.first == axis && known.first.second != extent;
    });
    info.name += another ? fmt::format("_slice_{}", extent) : "_slice";
    info.extent = extent;
    part->second = p.new_axis(std::move(info));
  }
  return part->second;
}

void StoreSlicer::declare(RoleBuilder& b) {
  int instances = 1;
  for_each_inst(in_.body, [&](const Inst& inst) {
    if (const Roles* roles = std::get_if<Roles>(&inst.op)) {
      for (const Role& role : roles->roles) instances = std::max(instances, role.instances);
    }
  });
  for_each_inst(in_.body, [&](const Inst& inst) {
    const Store* store = std::get_if<Store>(&inst.op);
    std::optional<StoreSlices> planned = store == nullptr ? std::nullopt : plan(b, *store);
    if (!planned) return;
    Type type{.dtype = in_.tensor(store->tensor).dtype,
              .axes = {planned->slice_rows, planned->slice_columns},
              .slots = kStoreBuffers * instances};
    Channel channel{.order = type.axes};
    channel.swizzle = swizzle_of(b.out(), type.dtype, planned->slice_columns);
    planned->channel = b.emit(std::move(channel), std::move(type));
    plans_[&inst] = *planned;
  });
}

std::optional<StoreSlices> StoreSlicer::plan(RoleBuilder& b, const Store& store) {
  const int row_bytes = slice_row_bytes(in_, context_, store);
  if (row_bytes == 0) return std::nullopt;
  const Type& type = in_.type(store.value);
  const auto [rows, columns] = axes_of(context_, store);
  if (in_.axis(rows).extent % kDotRows != 0) return std::nullopt;
  if (type.layout != wgmma_layout(in_, rows, columns, 1)) return std::nullopt;
  StoreSlices s{.rows = rows, .columns = columns};
  s.slice_rows = part_of(b.out(), s.rows, kDotRows);
  s.slice_columns = part_of(b.out(), s.columns, row_bytes / size_of(type.dtype));
  s.row_slices = in_.axis(s.rows).extent / kDotRows;
  s.column_slices = in_.axis(s.columns).extent / b.out().axis(s.slice_columns).extent;
  return s;
}

bool StoreSlicer::store(RoleBuilder& b, const Inst& inst, ValueId instance) {
  auto planned = plans_.find(&inst);
  if (planned == plans_.end()) return false;
  const StoreSlices& s = planned->second;
  const Store& store = std::get<Store>(inst.op);
  made_.clear();
  ValueId first = ValueId::none;
  if (instance != ValueId::none) {
    ValueId buffers = b.constant(kStoreBuffers);
    first = b.arithmetic(BinaryFn::mul, instance, buffers);
  }
  int number = 0;
  for (int column = 0; column < s.column_slices; ++column) {
    for (int row = 0; row < s.row_slices; ++row) {
      Slot slot{.channel = s.channel, .ticket = first, .offset = number++ % kStoreBuffers};
      ValueId value = slice(b, store.value, s, row, column);
      CopyOut out{.from = slot, .tensor = store.tensor, .subscripts = {}, .accumulate = store.accumulate};
      for (const Subscript& subscript : store.subscripts)
        out.subscripts.push_back(moved(b, subscript, s, row, column));
      b.statement(WriteShared{slot, value}, inst.loc);
      b.statement(std::move(out), inst.loc);
      b.statement(CommitStores{}, inst.loc);
    }
  }
  return true;
}

Subscript StoreSlicer::moved(RoleBuilder& b, const Subscript& subscript, const StoreSlices& s, int row,
                             int column) {
  ValueId start = subscript.value == ValueId::none ? ValueId::none : b.map(subscript.value);
  bool along_rows = subscript.axis == s.rows;
  if (!along_rows && subscript.axis != s.columns) return {subscript.axis, start};
  AxisId axis = along_rows ? s.slice_rows : s.slice_columns;
  int lanes = (along_rows ? row : column) * b.out().axis(axis).extent;
  if (lanes == 0) return {axis, start};
  ValueId step = b.constant(lanes);
  return {axis, b.arithmetic(BinaryFn::add, start, step)};
}

/// What is made element by element is made again, slice by slice: then few registers hold it at a time.
ValueId StoreSlicer::slice(RoleBuilder& b, ValueId old, const StoreSlices& s, int row, int column) {
  const Type& type = in_.type(old);
  bool has_rows = type.has(s.rows), has_columns = type.has(s.columns);
  if (!has_rows && !has_columns) return b.map(old);
  Key key{old, has_rows ? row : 0, has_columns ? column : 0};
  if (auto found = made_.find(key); found != made_.end()) return found->second;
  const Inst& definer = uses_.definer(old);
  bool again = is_elementwise(definer.op) || std::holds_alternative<Load>(definer.op) ||
               std::holds_alternative<Index>(definer.op);
  return made_[key] = again ? rebuilt(b, definer, s, row, column) : cut(b, old, s, row, column);
}

ValueId StoreSlicer::rebuilt(RoleBuilder& b, const Inst& inst, const StoreSlices& s, int row, int column) {
  Op op = inst.op;
  if (Load* load = std::get_if<Load>(&op)) {
    for (Subscript& subscript : load->subscripts) subscript = moved(b, subscript, s, row, column);
  } else if (Index* index = std::get_if<Index>(&op)) {
    Subscript start = moved(b, {index->axis, index->start}, s, row, column);
    *index = {start.axis, start.value};
  } else {
    for_each_operand(op, [&](ValueId& id) { id = slice(b, id, s, row, column); });
  }
  return b.emit(std::move(op), sliced(b, in_.type(inst.result()), s), inst.loc);
}

ValueId StoreSlicer::cut(RoleBuilder& b, ValueId old, const StoreSlices& s, int row, int column) {
  ValueId now = b.map(old);
  auto along = [&](AxisId of, AxisId to, int index) {
    Type type = b.out().type(now);
    if (of == to || !type.has(of)) return;
    std::replace(type.axes.begin(), type.axes.end(), of, to);
    type.layout = type.layout.slice(of, to, b.out().axis(to).extent);
    now = b.emit(Slice{now, of, to, index}, std::move(type), uses_.definer(old).loc);
  };
  along(s.rows, s.slice_rows, row);
  along(s.columns, s.slice_columns, column);
  return now;
}

Type StoreSlicer::sliced(RoleBuilder& b, Type type, const StoreSlices& s) const {
  auto along = [&](AxisId of, AxisId to) {
    if (of == to || !type.has(of)) return;
    std::replace(type.axes.begin(), type.axes.end(), of, to);
    type.layout = type.layout.slice(of, to, b.out().axis(to).extent);
  };
  along(s.rows, s.slice_rows);
  along(s.columns, s.slice_columns);
  return type;
}

}  // namespace tessera
