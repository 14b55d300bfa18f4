// Twin of device/counter.cuh.
#define TESSERA_COUNTERS(name, count) static unsigned name[count]

/// PTX ISA, "atom": .inc gives 0 where the bound has been reached. Blocks take turns.
inline int64 draw_tile(unsigned* counter, unsigned draws,
                       const emulated::Place& place = emulated::Place::current()) {
  if (draws == 0) emulated::fail(place, "draws one of no tiles");
  emulated::counter = counter;
  const unsigned before = *counter;
  *counter = before >= draws - 1 ? 0 : before + 1;
  return before;
}
