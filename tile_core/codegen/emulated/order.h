// What comes before what. Wrong order of accesses to shared memory is found from stamps, not by chance: an
// access must have been seen, through barriers, by whoever depends on it (PTX ISA, "Memory Consistency Model:
// Causality Order").
namespace emulated {

/// Of each block.
inline int agents() {
  return block().threads + block().threads / kLanes * 2 + kMbarriers;
}
inline int agent_of_thread(int thread) {
  return block().rank * agents() + thread;
}
inline int agent_of_dots(int thread) {
  return agent_of_thread(block().threads + thread / kGroup);
}
inline int agent_of_stores(int thread) {
  return agent_of_thread(block().threads + block().threads / kLanes + thread / kLanes);
}
inline int agent_of_mbarrier(int number) {
  return agent_of_thread(block().threads + block().threads / kLanes * 2 + number);
}
/// The running thread.
inline int agent() {
  return agent_of_thread(block().running);
}

inline unsigned& time_of(Clock& clock, int agent) {
  return clock[static_cast<std::size_t>(agent)];
}
inline Stamp stamp_now() {
  return {agent(), time_of(self().clock, agent())};
}

/// Whether the running thread comes after what the stamp is of.
inline bool is_before(const Stamp& s) {
  return s.agent < 0 || s.agent == agent() || time_of(self().clock, s.agent) >= s.time;
}

inline void join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
}

/// What the running thread did until now is seen by who looks at `to`; what it does next is not.
inline void publish(Clock& to) {
  join(to, self().clock);
  ++time_of(self().clock, agent());
}

/// The running thread has come to a meeting of so many; returns the round, which has ended when the number of
/// rounds is another.
inline unsigned come(Meeting& meeting, int expected, const Place& place) {
  if (meeting.arrived > 0 && meeting.expected != expected)
    fail(place, "meets %d threads, where others meet %d", expected, meeting.expected);
  meeting.expected = expected;
  const unsigned round = meeting.rounds;
  if (++meeting.arrived == expected) {
    meeting.arrived = 0;
    meeting.agreed = std::exchange(meeting.gathered, {});
    ++meeting.rounds;
  }
  return round;
}

/// Threads of the cluster that have ended are not waited for (PTX ISA, "barrier.cluster").
inline void end_cluster_round() {
  Meeting& m = cluster.whole;
  if (m.arrived == 0 || m.arrived < cluster.alive) return;
  m.arrived = 0;
  m.agreed = std::exchange(m.gathered, {});
  ++m.rounds;
}

/// Takes part in a meeting that orders accesses, and waits for the others or goes on.
inline void attend(Meeting& meeting, int expected, bool waits, const char* what, const Place& place) {
  publish(meeting.gathered);
  const unsigned round = come(meeting, expected, place);
  if (!waits) return;
  wait_until(what, place, [&meeting, round] { return meeting.rounds != round; });
  join(self().clock, meeting.agreed);
}

/// Whether the async proxy may read what a thread wrote: after the write a fence by the writer, which the
/// running thread has seen (PTX ISA, "Proxies").
inline bool is_fenced(const Stamp& write) {
  const Block& writers = block_of(write.agent / agents());
  for (unsigned time : writers.fibers[static_cast<std::size_t>(write.agent % agents())].fences) {
    if (time >= write.time) return is_before({write.agent, time + 1});
  }
  return false;
}

}  // namespace emulated
