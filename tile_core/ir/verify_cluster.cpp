#include <set>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/varying.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

constexpr int kMaxBlocks = 8;  // of a cluster, on every device that has them; schedules ask for fewer

class ClusterRules {
 public:
  explicit ClusterRules(const Program& program)
      : p_(program), cluster_(program.launch.cluster), varying_(varying_in_cluster(program)) {
    for_each_inst(p_.body, [this](const Inst& inst) {
      if (std::holds_alternative<ClusterRank>(inst.op)) ranks_.insert(inst.result());
      if (holds_any<Constant, Binary>(inst.op)) scalars_[inst.result()] = &inst.op;
    });
  }

  void run() const {
    launch();
    block(p_.body, true);
  }

 private:
  int extent(AxisId axis) const { return p_.axis(axis).extent; }

  void launch() const {
    if (cluster_.alone() && cluster_.blocks == 1) return;
    if (cluster_.alone() || p_.axis(cluster_.axis).kind != AxisKind::grid)
      fail_verify(p_, "the blocks of a cluster are no neighbours along a grid axis");
    if (cluster_.blocks < 2 || cluster_.blocks > kMaxBlocks)
      fail_verify(p_, fmt::format("a cluster has {} blocks, not 2 to {}", cluster_.blocks, kMaxBlocks));
    if (p_.stage < Stage::mapped) fail_verify(p_, "blocks form clusters already");
  }

  /// `alike`: all blocks of the cluster run the block as often.
  void block(const Block& b, bool alike) const {
    for (const Inst& inst : b.insts) {
      if (holds_any<ClusterIndex, ClusterCount, ClusterRank>(inst.op) && cluster_.alone())
        fail_verify(p_, inst, "the program's blocks form no clusters");
      const CopyIn* copy = std::get_if<CopyIn>(&inst.op);
      if (copy != nullptr && copy->multicast) multicast(inst, *copy, alike);
      const bool inside = alike && !decides_alone(inst.op);
      for_each_block(inst.op, [&](const Block& inner) { block(inner, inside); });
    }
  }

  /// Whether blocks may disagree on how often the operation runs what is inside.
  bool decides_alone(const Op& op) const {
    if (const If* branch = std::get_if<If>(&op)) return varying_(branch->condition);
    const Loop* loop = std::get_if<Loop>(&op);
    return loop != nullptr && (varying_(loop->begin) || varying_(loop->end) || varying_(loop->step));
  }

  void multicast(const Inst& inst, const CopyIn& o, bool alike) const {
    auto fail = [&](const std::string& what) { fail_verify(p_, inst, what); };
    if (o.kind != CopyKind::bulk || cluster_.alone())
      fail("only bulk copies of blocks that form clusters are multicast");
    const Part& part = o.to.part;
    if (part.of == AxisId::none || !ranks_.contains(part.index) ||
        extent(part.of) != extent(part.to) * cluster_.blocks)
      fail(fmt::format("the {} blocks of a cluster do not copy the parts of a slot by their rank",
                       cluster_.blocks));
    bool same = alike && !varying_(o.to.ticket);
    for (const Subscript& s : o.load.subscripts)
      same = same && (s.axis == part.to ? starts_by_rank(s) : !varying_(s.value));
    if (!same) fail("blocks of a cluster do not copy the same tile at the same time");
  }

  const Binary* binary(ValueId id, BinaryFn fn) const {
    const auto found = scalars_.find(id);
    const Binary* o = found == scalars_.end() ? nullptr : std::get_if<Binary>(found->second);
    return o != nullptr && o->fn == fn ? o : nullptr;
  }

  /// Whether a part starts where the whole does, plus the rank times its lanes.
  bool starts_by_rank(const Subscript& s) const {
    const Binary* sum = binary(s.value, BinaryFn::add);
    if (sum == nullptr) return false;
    return (by_rank(sum->b, extent(s.axis)) && !varying_(sum->a)) ||
           (by_rank(sum->a, extent(s.axis)) && !varying_(sum->b));
  }

  bool by_rank(ValueId id, int lanes) const {
    const Binary* product = binary(id, BinaryFn::mul);
    auto is_lanes = [&](ValueId factor) {
      const auto found = scalars_.find(factor);
      return found != scalars_.end() && *found->second == Op(Constant{static_cast<double>(lanes)});
    };
    return product != nullptr && ((ranks_.contains(product->a) && is_lanes(product->b)) ||
                                  (ranks_.contains(product->b) && is_lanes(product->a)));
  }

  const Program& p_;
  const Cluster& cluster_;
  Varying varying_;
  std::set<ValueId> ranks_;
  std::map<ValueId, const Op*> scalars_;  // constants, and what is made of two
};

}  // namespace

void verify_cluster(const Program& program) {
  ClusterRules(program).run();
}

}  // namespace tessera
