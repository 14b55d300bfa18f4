// Twin of device/mbarrier.cuh. PTX ISA, "mbarrier": a phase ends when no arrival is pending and no byte is
// due; the next begins at once.
namespace emulated {

int64 bytes_of(const BoxCopy& copy);
void land(const BoxCopy& copy, const Stamp& arrival);

inline Mbarrier& mbarrier_at(unsigned address, const Place& place) {
  Block& in = block_of(static_cast<int>(address >> kRankBit));
  const std::size_t offset = offset_of(address);
  auto found = in.mbarriers.find(address);
  if (found == in.mbarriers.end())
    fail(place, "uses byte %zu of shared memory as an mbarrier, which none is", offset);
  if (!is_before(in.shadows[offset].writer))
    fail(place, "uses the mbarrier at byte %zu, which another has made, with no barrier between", offset);
  if (in.rank != block().rank) in.visitors[agent()] = stamp_now().time;
  return found->second;
}

inline void end_phase(Mbarrier& m) {
  if (m.pending > 0 || m.bytes != 0) return;
  m.pending = m.expected;
  ++m.phases;
  ++cluster.steps;
  join(m.agreed, std::exchange(m.gathered, {}));
  time_of(m.agreed, m.agent) = m.phases;
}

inline void arrive_at(unsigned address, int64 bytes, const Place& place) {
  Mbarrier& m = mbarrier_at(address, place);
  if (m.pending == 0)
    fail(place, "arrives at the mbarrier at byte %zu, where all %d of this phase have arrived",
         offset_of(address), m.expected);
  publish(m.gathered);
  m.bytes += bytes;
  --m.pending;
  end_phase(m);
}

/// The copies that the mbarrier counts arrive; who waits for this phase sees them.
inline void land_all(Mbarrier& m) {
  for (const BoxCopy& copy : std::exchange(m.coming, {})) {
    land(copy, {m.agent, m.phases + 1});
    m.bytes -= bytes_of(copy);
  }
  end_phase(m);
}

}  // namespace emulated

inline void mbarrier_init(unsigned at, int arrivals,
                          const emulated::Place& place = emulated::Place::current()) {
  using emulated::block;
  const unsigned char* bytes = emulated::pointer_to(at);
  emulated::note_write(bytes, 8, false, place);
  for (int i = 0; i < 8; ++i)
    block()
        .shadows[emulated::shared_offset(bytes, 8, "writes", place) + static_cast<std::size_t>(i)]
        .mbarrier = true;
  const int number = static_cast<int>(block().mbarriers.size());
  if (arrivals < 1 || number == emulated::kMbarriers)
    emulated::fail(place, "makes an mbarrier of %d arrivals, the %dth", arrivals, number + 1);
  emulated::Mbarrier& m = block().mbarriers[at];
  m.agent = emulated::agent_of_mbarrier(number);
  m.expected = m.pending = arrivals;
  m.agreed.assign(emulated::self().clock.size(), 0);
}
inline void fence_mbarriers() {
  for (auto& [at, mbarrier] : emulated::block().mbarriers) mbarrier.fenced = true;
}

inline void mbarrier_arrive(unsigned at, bool counts,
                            const emulated::Place& place = emulated::Place::current()) {
  if (counts) emulated::arrive_at(at, 0, place);
}
inline void mbarrier_arrive_expect(unsigned at, int bytes,
                                   const emulated::Place& place = emulated::Place::current()) {
  emulated::arrive_at(at, bytes, place);
}

/// The phase of a parity has ended where the one that runs has the other: a wait that is two phases early
/// passes.
inline void mbarrier_wait(unsigned at, unsigned parity,
                          const emulated::Place& place = emulated::Place::current()) {
  emulated::Mbarrier& m = emulated::mbarrier_at(at, place);
  emulated::wait_until("an mbarrier", place, [&] {
    if (m.phases % 2 == parity) emulated::land_all(m);
    return m.phases % 2 != parity;
  });
  emulated::join(emulated::self().clock, m.agreed);
}
