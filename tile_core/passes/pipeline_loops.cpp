#include <algorithm>
#include <map>

#include "tile_core/ir/rewrite.h"
#include "tile_core/passes/channels.h"
#include "tile_core/passes/dot_path.h"
#include "tile_core/passes/passes.h"

namespace tessera {
namespace {

bool defined_in(const Loop& loop, ValueId id) {
  auto lists = [id](const std::vector<ValueId>& list) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  return lists(loop.parameters) || std::any_of(loop.body.insts.begin(), loop.body.insts.end(),
                                               [&](const Inst& inst) { return lists(inst.results); });
}

/// Loads of a loop's own body into shared memory that move with the loop's axis.
std::vector<const Inst*> streamed(const Program& program, const Loop& loop) {
  std::vector<const Inst*> loads;
  for (const Inst& inst : loop.body.insts) {
    const Load* load = std::get_if<Load>(&inst.op);
    if (load == nullptr || program.type(inst.result()).space != Space::shared) continue;
    bool moves = false;
    bool known = true;  // before the loop, for any start
    for (const Subscript& s : load->subscripts) {
      moves = moves || s.value == loop.start;
      known = known && (s.value == loop.start || !defined_in(loop, s.value));
    }
    if (moves && known) loads.push_back(&inst);
  }
  return loads;
}

class PipelineLoops {
 public:
  /// `last`: what runs ahead does so at the end of an iteration.
  PipelineLoops(const Program& program, int stages, bool last) : p_(program), stages_(stages), last_(last) {}

  bool operator()(Rewriter& r, const Inst& inst) {
    if (auto ring = rings_.find(&inst); ring != rings_.end()) {
      run_ahead(r, inst, ring->second);
      return true;
    }
    const Loop* loop = std::get_if<Loop>(&inst.op);
    if (loop == nullptr || !loop->pipelined || stages_ < 2) return false;
    std::vector<const Inst*> loads = streamed(p_, *loop);
    if (loads.empty()) return false;
    pipeline(r, inst, *loop, loads);
    return true;
  }

 private:
  /// The tiles of one load that are in flight: what the body reads, and what it loads for later.
  struct Ring {
    const Loop* loop = nullptr;
    std::vector<ValueId> parameters;  // new; the first is this iteration's tile
    ValueId ahead = ValueId::none;
  };

  /// The load as it would be for the loop starting at `start`.
  static Load at(Rewriter& r, const Inst& inst, const Loop& loop, ValueId start) {
    Load load = std::get<Load>(inst.op);
    for (Subscript& s : load.subscripts) {
      s.value = s.value == loop.start ? start : r.map(s.value);
    }
    return load;
  }

  ValueId offset(Rewriter& r, ValueId start, std::int64_t tiles, const Loop& loop) const {
    if (tiles == 0) return start;
    return r.arithmetic(BinaryFn::add, start, r.constant(tiles * p_.axis(loop.axis).extent));
  }

  void pipeline(Rewriter& r, const Inst& inst, const Loop& loop, const std::vector<const Inst*>& loads) {
    std::vector<std::vector<ValueId>> first(loads.size());
    for (int i = 0; i + 1 < stages_; ++i) {
      ValueId start = offset(r, r.map(loop.begin), i, loop);
      for (std::size_t l = 0; l < loads.size(); ++l) {
        first[l].push_back(r.emit(at(r, *loads[l], loop, start), p_.type(loads[l]->result()), loads[l]->loc));
      }
    }
    auto enter = [&](Loop& now) {
      for (std::size_t l = 0; l < loads.size(); ++l) {
        Ring ring{&loop};
        for (ValueId id : first[l]) {
          now.carried.push_back(id);
          now.parameters.push_back(r.define(p_.type(loads[l]->result())));
          ring.parameters.push_back(now.parameters.back());
        }
        rings_[loads[l]] = ring;
      }
    };
    auto leave = [&](Loop& now) {
      for (const Inst* load : loads) {
        Ring& ring = rings_.at(load);
        if (last_) load_ahead(r, *load, ring);
        for (std::size_t i = 1; i < ring.parameters.size(); ++i)
          now.body.yields.push_back(ring.parameters[i]);
        now.body.yields.push_back(ring.ahead);
        rings_.erase(load);
      }
    };
    r.copy_loop(inst, {enter, leave});
  }

  void run_ahead(Rewriter& r, const Inst& inst, Ring& ring) const {
    if (!last_) load_ahead(r, inst, ring);
    r.replace(inst.result(), ring.parameters.front());
  }

  void load_ahead(Rewriter& r, const Inst& inst, Ring& ring) const {
    ValueId start = offset(r, r.map(ring.loop->start), stages_ - 1, *ring.loop);
    ring.ahead = r.emit(at(r, inst, *ring.loop, start), p_.type(inst.result()), inst.loc);
  }

  const Program& p_;
  int stages_;
  bool last_;
  std::map<const Inst*, Ring> rings_;
};

}  // namespace

Program pipeline_loops(const Program& in, const PassContext& context) {
  if (uses_wgmma(in, context)) return in;  // a producer leads
  // Warps that multiply on the tensor cores ask for the next tiles under those products, not before them.
  // With two stages that would be too late.
  const bool warps = dot_path_of(in, context) == DotPath::mma;
  auto with = [&](int stages) {
    PipelineLoops pass(in, stages, warps && stages > 2);
    return rewrite(in, [&](Rewriter& r, const Inst& inst) { return pass(r, inst); });
  };
  if (context.schedule.stages != Schedule::kAutomatic) return with(context.schedule.stages);
  Program overlapped = with(context.target.cp_async ? 2 : 1);
  bool fits =
      Channels(overlapped, context).bytes() <= context.target.shared_bytes_for(context.schedule.blocks);
  return fits ? overlapped : with(1);
}

}  // namespace tessera
