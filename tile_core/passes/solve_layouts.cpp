#include <algorithm>

#include "tile_core/base/error.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/uses.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/infer_layouts.h"
#include "tile_core/passes/layouts.h"
#include "tile_core/passes/warp_dots.h"
#include "tile_core/target/access.h"

namespace tessera {
namespace {

/// One problem: instructions are constraints that spread what is known until nothing changes.
class Solver {
 public:
  Solver(const Program& program, const PassContext& context)
      : p_(program),
        context_(context),
        uses_(program),
        path_(dot_path_of(program, context)),
        row_groups_(sharing_of(program, context).row_groups()),
        layouts_(program.types.size()) {}

  LayoutMap run() {
    dots(p_.body);
    spread();
    operands_of_warps();
    while (const Inst* access = largest_open_access()) {
      lay_out(*access);
      spread();
    }
    finish();
    return std::move(layouts_);
  }

 private:
  bool in_registers(ValueId id) const { return p_.type(id).space == Space::registers; }
  bool open(ValueId id) const { return in_registers(id) && !layouts_.known(id); }

  void dots(const Block& block) {
    for (const Inst& inst : block.insts) {
      if (const Loop* loop = std::get_if<Loop>(&inst.op)) dots(loop->body);
      const Dot* dot = std::get_if<Dot>(&inst.op);
      if (dot == nullptr || p_.type(inst.result()).axes.empty()) continue;
      if (path_ == DotPath::wgmma) wgmma(inst.result(), *dot);
      if (path_ == DotPath::mma) mma(inst.result(), *dot);
      if (path_ == DotPath::fma) fma(inst.result(), *dot);
    }
  }

  void fma(ValueId result, const Dot& dot) {
    layouts_.set(result, dot_layout(p_, free_axes(dot.a, dot.axis), free_axes(dot.b, dot.axis),
                                    p_.launch.warps, column_vector(dot.b, dot.axis)));
  }

  /// An operand in registers has its contracted axis where an accumulator has its columns.
  void wgmma(ValueId result, const Dot& dot) {
    DotAxes axes = dot_axes(p_, dot);
    dot_ = axes;
    layouts_.set(result, wgmma_layout(p_, axes.rows, axes.columns, row_groups_));
    if (in_registers(dot.a)) layouts_.set(dot.a, wgmma_layout(p_, axes.rows, dot.axis, row_groups_));
  }

  void mma(ValueId result, const Dot& dot) {
    DotAxes axes = dot_axes(p_, dot);
    layouts_.set(result, warp_layout(p_, axes.rows, axes.columns, warp_grid_of(p_, context_)));
  }

  /// Operands in registers that no other dot has laid out.
  void operands_of_warps() {
    if (path_ != DotPath::mma) return;
    for (const Dot* dot : dots_of(p_)) {
      if (open(dot->a))
        layouts_.set(dot->a, warp_layout(p_, dot_axes(p_, *dot).rows, dot->axis, {p_.launch.warps, 1}));
    }
    spread();
  }

  std::vector<AxisId> free_axes(ValueId operand, AxisId contracted) const {
    std::vector<AxisId> axes = p_.type(operand).axes;
    std::erase(axes, contracted);
    return axes;
  }

  /// Columns stand side by side in shared memory where the loaded operand is not contiguous along the
  /// contracted axis.
  int column_vector(ValueId operand, AxisId contracted) const {
    constexpr int kVector = 4;
    const Load* load = std::get_if<Load>(&uses_.definer(operand).op);
    if (load == nullptr) return 1;
    Access access = widest_access(p_, context_.facts, context_.schedule, load->tensor, load->subscripts);
    return access.axis != contracted && access.axis != AxisId::none ? kVector : 1;
  }

  void spread() {
    while (spread(p_.body)) {
    }
  }

  bool spread(const Block& block) {
    bool changed = false;
    for (const Inst& inst : block.insts) {
      if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
        changed |= spread_loop(inst, *loop);
      } else if (const Reduce* reduce = std::get_if<Reduce>(&inst.op)) {
        if (open(inst.result()) && layouts_.known(reduce->a)) {
          changed |= layouts_.set(inst.result(), layouts_.of(reduce->a).drop(reduce->axis));
        }
      } else if (!inst.results.empty() && in_registers(inst.result()) &&
                 !std::holds_alternative<Load>(inst.op)) {
        changed |= spread_pointwise(inst);
      }
    }
    return changed;
  }

  bool spread_pointwise(const Inst& inst) {
    ValueId result = inst.result();
    bool changed = false;
    for_each_operand(inst.op, [&](ValueId id) {
      bool same = in_registers(id) && p_.type(id).axes.size() == p_.type(result).axes.size();
      if (same && layouts_.known(id)) changed |= layouts_.set(result, layouts_.of(id));
    });
    if (!layouts_.known(result)) return changed;
    for_each_operand(inst.op, [&](ValueId id) {
      if (open(id)) changed |= layouts_.set(id, layouts_.of(result).restrict_to(p_.type(id).axes));
    });
    return changed;
  }

  /// What a loop carries keeps one layout: at entry, inside, and as the result.
  bool spread_loop(const Inst& inst, const Loop& loop) {
    bool changed = spread(loop.body);
    for (std::size_t i = 0; i < loop.parameters.size(); ++i) {
      if (!in_registers(loop.parameters[i])) continue;
      const ValueId family[] = {loop.parameters[i], loop.body.yields[i], inst.results[i], loop.carried[i]};
      auto known =
          std::find_if(std::begin(family), std::end(family), [&](ValueId id) { return layouts_.known(id); });
      if (known == std::end(family)) continue;
      Layout layout = layouts_.of(*known);
      for (ValueId id : family) {
        if (open(id)) changed |= layouts_.set(id, layout);
      }
    }
    return changed;
  }

  /// The load or store of the most elements whose tile has no layout yet.
  const Inst* largest_open_access() const {
    const Inst* largest = nullptr;
    std::int64_t most = 0;
    for_each_inst(p_.body, [&](const Inst& inst) {
      ValueId tile = accessed(inst);
      if (tile == ValueId::none || !open(tile) || elements(p_, p_.type(tile)) <= most) return;
      most = elements(p_, p_.type(tile));
      largest = &inst;
    });
    return largest;
  }

  static ValueId accessed(const Inst& inst) {
    if (std::holds_alternative<Load>(inst.op)) return inst.result();
    if (const Store* store = std::get_if<Store>(&inst.op)) return store->value;
    return ValueId::none;
  }

  void lay_out(const Inst& inst) {
    const Load* load = std::get_if<Load>(&inst.op);
    const Store* store = std::get_if<Store>(&inst.op);
    Access access =
        load != nullptr
            ? widest_access(p_, context_.facts, context_.schedule, load->tensor, load->subscripts)
            : widest_access(p_, context_.facts, context_.schedule, store->tensor, store->subscripts);
    ValueId tile = accessed(inst);
    layouts_.set(tile, along(p_.type(tile).axes, access.axis, access.vector));
  }

  Layout along(const std::vector<AxisId>& axes, AxisId contiguous, int vector) const {
    if (path_ == DotPath::wgmma) return layout_beside_wgmma(p_, axes, contiguous, vector, dot_, row_groups_);
    return access_layout(p_, axes, contiguous, vector, p_.launch.warps);
  }

  /// Tiles that touch neither a dot nor memory.
  void finish() {
    for (std::size_t i = 0; i < p_.types.size(); ++i) {
      auto id = static_cast<ValueId>(i);
      if (open(id)) layouts_.set(id, along(p_.type(id).axes, AxisId::none, 1));
      spread();
    }
  }

  const Program& p_;
  const PassContext& context_;
  Uses uses_;
  DotPath path_;
  int row_groups_;  // of wgmma
  DotAxes dot_;     // of the last one
  LayoutMap layouts_;
};

}  // namespace

LayoutMap solve_layouts(const Program& program, const PassContext& context) {
  return Solver(program, context).run();
}

}  // namespace tessera
