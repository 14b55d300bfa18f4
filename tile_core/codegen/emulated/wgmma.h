// Twin of device/wgmma.cuh.
#define TESSERA_DOT_OF_SLOTS(name, n, type, numbers, i_a, i_b, i_added, major_a, major_b, ...) \
  inline void name(float* d, unsigned long long at_a, unsigned long long at_b, int accumulate, \
                   const emulated::Place& place = emulated::Place::current()) {                \
    emulated::issue({.run = emulated::run_dot<type>,                                           \
                     .sum = d,                                                                 \
                     .columns = n,                                                             \
                     .added = accumulate != 0,                                                 \
                     .a = at_a,                                                                \
                     .b = at_b,                                                                \
                     .a_major = major_a != 0,                                                  \
                     .b_major = major_b != 0,                                                  \
                     .place = place});                                                         \
  }
#define TESSERA_DOT_OF_REGISTERS(name, n, type, numbers, i_a0, i_a1, i_a2, i_a3, i_b, i_added, major_b, ...) \
  inline void name(float* d, const type* part, unsigned long long at_b, int accumulate,                      \
                   const emulated::Place& place = emulated::Place::current()) {                              \
    emulated::Dot dot{.run = emulated::run_dot<type>,                                                        \
                      .sum = d,                                                                              \
                      .columns = n,                                                                          \
                      .added = accumulate != 0,                                                              \
                      .registers = part,                                                                     \
                      .b = at_b,                                                                             \
                      .b_major = major_b != 0,                                                               \
                      .place = place};                                                                       \
    emulated::gather_rows(dot, part);                                                                        \
    emulated::issue(std::move(dot));                                                                         \
  }

inline void fence_dots() {
  emulated::self().fenced_dots = true;
}
inline void commit_dots() {
  emulated::Fiber& f = emulated::self();
  f.dots.push_back(std::exchange(f.open_dots, {}));
  f.fenced_dots = false;
  ++f.committed_dots;
}
/// All but the newest groups have finished, those of the whole warpgroup.
template <int Pending>
void wait_dots(const emulated::Place& place = emulated::Place::current()) {
  emulated::Fiber& f = emulated::self();
  for (; f.dots.size() > Pending; f.dots.erase(f.dots.begin())) {
    for (const emulated::Dot& dot : f.dots.front()) emulated::finish(dot, place);
  }
  const int group = emulated::block().running / emulated::kGroup;
  emulated::Meeting& m = emulated::block().groups[group];
  const unsigned round = emulated::come(m, emulated::kGroup, place);
  emulated::wait_until("their warpgroup", place, [&m, round] { return m.rounds != round; });
  emulated::time_of(f.clock, emulated::agent_of_dots(emulated::block().running)) =
      f.committed_dots - static_cast<unsigned>(f.dots.size());
}

template <int N, typename T>
void pin(T (&)[N]) {}

template <typename T>
void discard(T& any) {
  std::memset(&any, emulated::kUnwritten, sizeof any);
}
inline void discard(bool& any) {
  any = true;
}

template <unsigned High>
unsigned long long descriptor(unsigned low) {
  return static_cast<unsigned long long>(High) << 32 | low;
}
