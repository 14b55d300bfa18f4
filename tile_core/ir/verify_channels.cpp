#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

constexpr int kMbarrier = 8;  // bytes

class ChannelRules {
 public:
  ChannelRules(const Program& program, const Channels& channels, const Inst& inst)
      : p_(program), channels_(channels), inst_(inst) {}

  void run(const Channel& o) const {
    if (!same_axes(o.order, p_.type(inst_.result()).axes)) fail("the order does not name the channel's axes");
    o.swizzle == 0 ? rows(o) : swizzled_rows(o);
    if (o.with != ValueId::none) shares_barriers(o);
    if (p_.stage < Stage::ready && o.offset != -1) fail("the channel has an offset already");
    if (p_.stage < Stage::ready && o.barriers != -1) fail("the channel has barriers already");
  }

  /// Offsets, once they are planned; `passed`: some role passes the channel's slots.
  void planned(const Channel& o, bool passed) const {
    if (o.offset < 0 || o.offset % slot_alignment(o) != 0)
      fail(fmt::format("the channel's offset is {}, no multiple of {}", o.offset, slot_alignment(o)));
    if (!passed && o.barriers != -1) fail("the channel has barriers, but no role passes its slots");
    if (passed && (o.barriers < 0 || o.barriers % kMbarrier != 0))
      fail(fmt::format("the channel's barriers are at {}, no multiple of {}", o.barriers, kMbarrier));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail_verify(p_, inst_, what); }
  int row(const Channel& o) const { return o.order.empty() ? 1 : p_.axis(o.order.back()).extent; }

  void rows(const Channel& o) const {
    if (o.pitch < row(o)) fail(fmt::format("rows of {} elements are {} apart", row(o), o.pitch));
  }

  void swizzled_rows(const Channel& o) const {
    if (o.swizzle != 32 && o.swizzle != 64 && o.swizzle != 128)
      fail(fmt::format("a swizzle is of 32, 64 or 128 bytes, but this one of {}", o.swizzle));
    if (o.pitch != 0)
      fail(fmt::format("the rows of a swizzled channel stand together, not {} apart", o.pitch));
    const Type& type = p_.type(inst_.result());
    int bytes = row(o) * size_of(type.dtype);
    std::int64_t rows = elements(p_, type) / row(o);
    if (bytes % o.swizzle != 0 || rows % kPatternRows != 0) {
      fail(fmt::format("{} rows of {} bytes are no multiple of the swizzle's {} rows of {}", rows, bytes,
                       kPatternRows, o.swizzle));
    }
  }

  void shares_barriers(const Channel& o) const {
    auto root = channels_.find(o.with);
    if (root == channels_.end() || root->second->with != ValueId::none)
      fail(name_of(p_, o.with) + " is no channel with barriers of its own");
    int own = p_.type(inst_.result()).slots, other = p_.type(o.with).slots;
    if (own != other)
      fail(fmt::format("the channel has {} slots, the one whose barriers it shares {}", own, other));
  }

  const Program& p_;
  const Channels& channels_;
  const Inst& inst_;
};

}  // namespace

Channels channels_of(const Program& program) {
  Channels channels;
  for (const Inst& inst : program.body.insts) {
    if (const Channel* channel = std::get_if<Channel>(&inst.op)) channels[inst.result()] = channel;
  }
  return channels;
}

void verify_channels(const Program& program) {
  const Channels channels = channels_of(program);
  for_each_inst(program.body, [&](const Inst& inst) {
    const Channel* channel = std::get_if<Channel>(&inst.op);
    if (channel == nullptr) return;
    if (!channels.contains(inst.result())) fail_verify(program, inst, "a channel inside a loop or a role");
    ChannelRules(program, channels, inst).run(*channel);
  });
  if (program.stage < Stage::ready) return;
  const std::map<ValueId, Protocol> passed = protocols(program);
  for (const Inst& inst : program.body.insts) {
    if (const Channel* channel = std::get_if<Channel>(&inst.op))
      ChannelRules(program, channels, inst).planned(*channel, passed.contains(inst.result()));
  }
}

}  // namespace tessera
