#include "tile_core/base/match.h"
#include "tile_core/ir/channel.h"
#include "tile_core/ir/operands.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/verify_parts.h"

namespace tessera {
namespace {

constexpr int kAlignment = 16;  // bytes, of the widest access
constexpr std::size_t kMaxBoxDims = 5;

class SlotRules {
 public:
  SlotRules(const Program& program, const Channels& channels, const std::map<ValueId, Protocol>& protocols,
            const Inst& inst)
      : p_(program), channels_(channels), protocols_(protocols), inst_(inst) {}

  void run() const {
    match(
        inst_.op, [&](const View& o) { slot(o.slot); },
        [&](const CopyIn& o) {
          slot(o.to);
          o.kind == CopyKind::bulk ? bulk_in(o) : copy(o);
        },
        [&](const PassSlot& o) { slot(o.slot), pass(o); }, [&](const WriteShared& o) { slot(o.to); },
        [&](const ReadShared& o) { slot(o.from); },
        [&](const CopyOut& o) { slot(o.from), bulk(o.from, o.tensor, o.subscripts); },
        [&](const DotShared& o) {
          if (o.a.value == ValueId::none) dot_slot(o, o.a.slot);
          dot_slot(o, o.b);
        },
        [&](const IssueDot& o) {
          if (o.a.value == ValueId::none) dot_operand(o.a.slot);
          dot_operand(o.b);
        },
        [&](const auto&) {});
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail_verify(p_, inst_, what); }
  int extent(AxisId axis) const { return p_.axis(axis).extent; }
  const Channel& channel_of(const Slot& s) const { return *channels_.at(s.channel); }
  int size(const Slot& s) const { return size_of(p_.type(s.channel).dtype); }
  int row(const Channel& o) const { return o.order.empty() ? 1 : extent(o.order.back()); }

  void slot(const Slot& s) const {
    const Type& type = p_.type(s.channel);
    if (s.ticket != ValueId::none && (p_.type(s.ticket).dtype != i64 || !p_.type(s.ticket).axes.empty())) {
      fail("a ticket is i64, but got " + to_text(p_, p_.type(s.ticket)));
    }
    if (s.offset < 0 || (s.ticket == ValueId::none && s.offset >= type.slots)) {
      fail(fmt::format("the channel has {} slots, but the slot is {}", type.slots, s.offset));
    }
    const Channel& channel = channel_of(s);
    if (s.part.of != AxisId::none && channel.swizzle > 0) part(s, channel);
  }

  /// A part has to be atoms, or rows of them from which the swizzle's pattern begins anew.
  void part(const Slot& s, const Channel& o) const {
    bool along_rows = s.part.of == o.order.back();
    std::int64_t rows = elements(p_, p_.type(s.channel)) / row(o) / extent(s.part.of) * extent(s.part.to);
    bool fits = along_rows ? extent(s.part.to) * size(s) % o.swizzle == 0
                           : s.part.of == o.order.front() && rows % kPatternRows == 0;
    if (fits) return;
    fail(fmt::format("{} lanes of axis '{}' are no whole pieces of the swizzled channel {}",
                     extent(s.part.to), p_.axis(s.part.of).name, name_of(p_, s.channel)));
  }

  void pass(const PassSlot& o) const {
    ValueId root = channel_of(o.slot).with;
    if (root != ValueId::none) {
      fail(fmt::format("the slots of {} pass with those of {}", name_of(p_, o.slot.channel),
                       name_of(p_, root)));
    }
    if (o.slot.part.of != AxisId::none) fail("a slot passes as a whole");
    const Protocol& protocol = protocols_.at(o.slot.channel);
    if (o.step == SlotStep::acquire && protocol.releases == 0) fail("no role releases what is acquired");
    const bool waits = o.step == SlotStep::wait || o.step == SlotStep::skip;
    if (waits && protocol.commits == 0) fail("no role commits what is waited for");
  }

  void dot_operand(const Slot& s) const {
    slot(s);
    if (channel_of(s).swizzle == 0)
      fail(fmt::format("an issued dot reads swizzled channels, which {} is not", name_of(p_, s.channel)));
  }

  void dot_slot(const DotShared& o, const Slot& s) const {
    slot(s);
    if ((channel_of(s).swizzle > 0) == o.mma) return;
    fail(fmt::format("a dot by {} reads channels that are {}swizzled, but got {}", o.mma ? "mma" : "FMA",
                     o.mma ? "" : "not ", name_of(p_, s.channel)));
  }

  void copy(const CopyIn& o) const {
    const Channel& channel = channel_of(o.to);
    int bytes = o.vector * size(o.to);
    bool power = bytes > 0 && (bytes & (bytes - 1)) == 0;
    if (!power || bytes > kAlignment || (o.kind == CopyKind::async && bytes < 4)) {
      fail(fmt::format("one access of {} elements has {} bytes", o.vector, bytes));
    }
    if (o.kind == CopyKind::realigned && (bytes != kAlignment || size(o.to) != 2)) {
      fail(fmt::format("realigned accesses are of {} bytes, and of elements of 2, but got {} and {}",
                       kAlignment, bytes, size(o.to)));
    }
    if (row(channel) % o.vector != 0 || channel.pitch % o.vector != 0) {
      fail(fmt::format("accesses of {} elements do not fit rows of {}, {} apart", o.vector, row(channel),
                       channel.pitch));
    }
  }

  void bulk_in(const CopyIn& o) const {
    if (o.vector != 1) fail("the copy engine takes no vectors");
    ValueId with = channel_of(o.to).with;
    auto protocol = protocols_.find(with == ValueId::none ? o.to.channel : with);
    if (protocol == protocols_.end() || protocol->second.commits == 0)
      fail("no role commits what is copied, so nothing can wait for it");
    bulk(o.to, o.load.tensor, o.load.subscripts);
  }

  /// The copy engine moves boxes of at most 256 lanes of at most 5 dims, in the order of the tensor's dims
  /// but for the contiguous one, which stands last in a channel.
  void bulk(const Slot& s, TensorId tensor, const std::vector<Subscript>& subscripts) const {
    const Channel& o = channel_of(s);
    if (o.order.empty() || subscripts.size() > kMaxBoxDims)
      fail(fmt::format("the copy engine takes 1 to {} dims", kMaxBoxDims));
    int bytes = row(o) * size(s);
    if (o.swizzle == 0 && (o.pitch != row(o) || bytes % kAlignment != 0)) {
      fail(fmt::format(
          "the copy engine takes rows of whole {} bytes that stand together, but got {} bytes, {} "
          "elements apart",
          kAlignment, bytes, o.pitch));
    }
    std::vector<AxisId> order;  // of the box, slowest first
    for (AxisId axis : o.order) order.push_back(axis == s.part.of ? s.part.to : axis);
    std::vector<AxisId> dims;
    for (const Subscript& subscript : subscripts) {
      if (subscript.axis != AxisId::none && subscript.axis != order.back()) dims.push_back(subscript.axis);
    }
    dims.push_back(order.back());
    if (dims != order) {
      fail(fmt::format("the copy engine keeps the order of the dims of {}, which that of {} is not",
                       p_.tensor(tensor).name, name_of(p_, s.channel)));
    }
    order.pop_back();
    for (AxisId axis : order) {
      if (extent(axis) > kMaxBox)
        fail(fmt::format("the copy engine takes {} lanes, but axis '{}' has {}", kMaxBox, p_.axis(axis).name,
                         extent(axis)));
    }
  }

  const Program& p_;
  const Channels& channels_;
  const std::map<ValueId, Protocol>& protocols_;
  const Inst& inst_;
};

}  // namespace

void verify_slots(const Program& program) {
  const Channels channels = channels_of(program);
  const std::map<ValueId, Protocol> passed = protocols(program);
  for_each_inst(program.body, [&](const Inst& inst) { SlotRules(program, channels, passed, inst).run(); });
}

}  // namespace tessera
