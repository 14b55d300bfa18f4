#include <algorithm>

#include "tile_core/ir/operands.h"
#include "tile_core/ir/uses.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

/// There are as many draws as tiles because every iteration over a tile draws once, and every block has one
/// tile that nobody draws: its own number. What is drawn past the last tile ends a loop.
class DrawingRules {
 public:
  explicit DrawingRules(const Program& program) : p_(program), uses_(program) {}

  void run() {
    for_each_inst(p_.body, [this](const Inst& inst) {
      if (!std::holds_alternative<DrawTile>(inst.op)) return;
      if (!p_.launch.counter) fail_verify(p_, inst, "the program's tiles are not drawn from a counter");
      ++draws_;
    });
    if (!p_.launch.counter) return;
    if (draws_ != 1)
      fail_verify(p_, fmt::format("tiles are drawn by one instruction, but the program has {}", draws_));
    for (const Role& role : roles_of(p_)) find(role);
    if (drawing_ == nullptr) fail_verify(p_, "no elected role draws a tile in every iteration of a loop");
    draws_every_tile();
    for (const Role& role : roles_of(p_)) {
      for_each_inst(role.body, [this](const Inst& inst) {
        const Loop* loop = std::get_if<Loop>(&inst.op);
        if (loop != nullptr && loop->axis == AxisId::none && loop != drawing_) follows(inst, *loop);
      });
    }
  }

 private:
  void find(const Role& role) {
    for (const Inst& inst : role.body.insts) {
      const Loop* loop = std::get_if<Loop>(&inst.op);
      if (loop == nullptr || !loop->draws_its_starts() || !role.elected || role.instances > 1) continue;
      for (const Inst& inner : loop->body.insts) {
        if (const WriteShared* write = std::get_if<WriteShared>(&inner.op)) written_.push_back(write);
        if (!std::holds_alternative<DrawTile>(inner.op)) continue;
        at_ = &inst, drawing_ = loop, draw_ = &inner;
      }
    }
  }

  const Op& made_by(ValueId id) const { return uses_.definer(id).op; }

  void draws_every_tile() const {
    const ValueId next = drawing_->body.yields.front();
    const Binary* sum = std::get_if<Binary>(&made_by(next));
    auto is = [&](ValueId a, ValueId b) {
      return a == draw_->result() && std::holds_alternative<BlockCount>(made_by(b));
    };
    if (sum == nullptr || sum->fn != BinaryFn::add || (!is(sum->a, sum->b) && !is(sum->b, sum->a)))
      fail_verify(p_, *draw_, "the next tile is not what is drawn, plus the number of blocks");
    if (!std::holds_alternative<BlockIndex>(made_by(drawing_->begin)) ||
        drawing_->end != std::get<DrawTile>(draw_->op).tiles)
      fail_verify(p_, *at_, "the loop that draws does not go from the block's number to the number of tiles");
  }

  /// The tiles of another role are those that the drawing one writes down.
  void follows(const Inst& inst, const Loop& loop) const {
    if (!loop.draws_its_starts())
      fail_verify(p_, inst, "a loop steps through tiles that are drawn from a counter");
    if (!is_first(loop.begin) || loop.end != drawing_->end)
      fail_verify(p_, inst, "the loop goes through other tiles than the one that draws them");
    if (!is_read(loop.body.yields.front()))
      fail_verify(p_, inst, "the next tile is not read from where the drawn ones are written");
  }

  /// The block's own, or for some instances one that is drawn.
  bool is_first(ValueId tile) const {
    if (tile == drawing_->begin) return true;
    const If* branch = std::get_if<If>(&made_by(tile));
    if (branch == nullptr || branch->then.yields.size() != 1) return false;
    auto drawn = [&](ValueId id) { return id == drawing_->begin || is_read(id); };
    return drawn(branch->then.yields.front()) && drawn(branch->otherwise.yields.front());
  }

  bool is_read(ValueId tile) const {
    const ReadShared* read = std::get_if<ReadShared>(&made_by(tile));
    return read != nullptr && std::any_of(written_.begin(), written_.end(), [&](const WriteShared* write) {
             return write->to.channel == read->from.channel && write->value == drawing_->body.yields.front();
           });
  }

  const Program& p_;
  Uses uses_;
  int draws_ = 0;
  const Inst* at_ = nullptr;  // the loop that draws, and what it writes down
  const Loop* drawing_ = nullptr;
  const Inst* draw_ = nullptr;
  std::vector<const WriteShared*> written_;
};

}  // namespace

void verify_drawing(const Program& program) {
  const LaunchInfo& launch = program.launch;
  if (launch.counter && !launch.persistent)
    fail_verify(program, "tiles are drawn from a counter, but blocks do not stay for another");
  if (launch.counter && !launch.cluster.alone())
    fail_verify(program, "tiles are drawn from a counter, and each block of a cluster would have its own");
  if (program.stage >= Stage::roled) DrawingRules(program).run();
}

}  // namespace tessera
