#include <map>

#include "tile_core/base/match.h"
#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

constexpr int kAlignment = 16;  // bytes, of the widest access

using Channels = std::map<ValueId, const Channel*>;

/// The channels of a program. They stand at its top, since shared memory is the whole block's.
Channels channels_of(const Program& program) {
  Channels channels;
  for (const Inst& inst : program.body.insts) {
    if (const Channel* channel = std::get_if<Channel>(&inst.op)) channels[inst.result()] = channel;
  }
  return channels;
}

class SharedRules {
 public:
  SharedRules(const Program& program, const Channels& channels, const Inst& inst)
      : p_(program), channels_(channels), inst_(inst) {}

  void run() {
    match(
        inst_.op, [&](const Channel& o) { channel(o); }, [&](const CopyIn& o) { slot(o.to), copy(o); },
        [&](const WriteShared& o) { slot(o.to); }, [&](const ReadShared& o) { slot(o.from); },
        [&](const DotShared& o) { slot(o.a), slot(o.b); }, [&](const auto&) {});
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail_verify(p_, inst_, what); }
  int row(const Channel& o) const { return o.order.empty() ? 1 : p_.axis(o.order.back()).extent; }

  void channel(const Channel& o) const {
    if (!channels_.contains(inst_.result())) fail("a channel inside a loop");
    if (!same_axes(o.order, p_.type(inst_.result()).axes)) fail("the order does not name the channel's axes");
    if (o.pitch < row(o)) fail(fmt::format("rows of {} elements are {} apart", row(o), o.pitch));
    if (p_.stage < Stage::ready && o.offset != -1) fail("the channel has an offset already");
    if (p_.stage == Stage::ready && (o.offset < 0 || o.offset % kAlignment != 0)) {
      fail(fmt::format("the channel's offset is {}, no multiple of {}", o.offset, kAlignment));
    }
  }

  void slot(const Slot& s) const {
    const Type& type = p_.type(s.channel);
    if (!type.is_channel()) fail(name_of(p_, s.channel) + " is not a channel");
    if (s.ticket != ValueId::none && (p_.type(s.ticket).dtype != i64 || !p_.type(s.ticket).axes.empty())) {
      fail("a ticket is i64, but got " + to_text(p_, p_.type(s.ticket)));
    }
    // The text of a slot of such a channel has neither.
    if (type.slots == 1 && s.ticket != ValueId::none)
      fail("a slot of a channel that has one takes no ticket");
    if (s.offset < 0 || (s.ticket == ValueId::none && s.offset >= type.slots)) {
      fail(fmt::format("the channel has {} slots, but the slot is {}", type.slots, s.offset));
    }
  }

  void copy(const CopyIn& o) const {
    const Channel& channel = *channels_.at(o.to.channel);
    int bytes = o.vector * size_of(p_.type(o.to.channel).dtype);
    bool power = bytes > 0 && (bytes & (bytes - 1)) == 0;
    if (!power || bytes > kAlignment || (o.kind == CopyKind::async && bytes < 4)) {
      fail(fmt::format("one access of {} elements has {} bytes", o.vector, bytes));
    }
    if (row(channel) % o.vector != 0 || channel.pitch % o.vector != 0) {
      fail(fmt::format("accesses of {} elements do not fit rows of {}, {} apart", o.vector, row(channel),
                       channel.pitch));
    }
  }

  const Program& p_;
  const Channels& channels_;
  const Inst& inst_;
};

/// Offsets and sizes of the channels, from Stage::ready on: apart from each other, and all of the block's
/// shared memory.
void verify_plan(const Program& program) {
  std::map<std::int64_t, const Inst*> places;  // by offset
  for (const Inst& inst : program.body.insts) {
    const Channel* channel = std::get_if<Channel>(&inst.op);
    if (channel != nullptr && !places.try_emplace(channel->offset, &inst).second) {
      fail_verify(program, inst, "two channels have one offset");
    }
  }
  std::int64_t end = 0;
  for (const auto& [offset, inst] : places) {
    if (offset < end) {
      fail_verify(program, *inst,
                  fmt::format("the channel begins before byte {}, where the one below ends", end));
    }
    const Type& type = program.type(inst->result());
    end = offset + type.slots * slot_bytes(program, type, std::get<Channel>(inst->op));
  }
  std::int64_t bytes = program.launch.shared_bytes;
  if (bytes < end || bytes >= end + kAlignment) {
    fail_verify(program, fmt::format("{} bytes of shared memory, but the channels end at {}", bytes, end));
  }
}

}  // namespace

void verify_shared(const Program& program) {
  Channels channels = channels_of(program);
  for_each_inst(program.body, [&](const Inst& inst) { SharedRules(program, channels, inst).run(); });
  if (program.stage == Stage::ready) verify_plan(program);
}

}  // namespace tessera
