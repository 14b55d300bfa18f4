// Twin of device/roles.cuh.
inline int uniform(int x) {
  return x;
}
inline int64 uniform(int64 x) {
  return x;
}
/// PTX ISA, "elect.sync": the leader is one of the members, the same for the same members.
inline bool elect() {
  return emulated::block().running % emulated::kLanes == 0;
}
inline void pin(int&) {}
/// PTX ISA, "bar.warp.sync": orders the memory accesses of the lanes.
inline void warp_barrier(const emulated::Place& place = emulated::Place::current()) {
  const int warp = emulated::block().running / emulated::kLanes;
  emulated::attend(emulated::block().warps[warp], emulated::kLanes, true, "lanes of their warp", place);
}

/// PTX ISA, "setmaxnreg": 24 to 256, in steps of 8.
template <int Registers>
void give_registers() {
  static_assert(Registers >= 24 && Registers <= 256 && Registers % 8 == 0);
}
template <int Registers>
void take_registers() {
  give_registers<Registers>();
}

/// PTX ISA, "bar.sync" and "bar.arrive": a block has barriers 0 to 15, for whole warps.
template <int First, int Count, int Threads>
void meet(int which, const emulated::Place& place = emulated::Place::current()) {
  static_assert(First > 0 && First + Count <= 16 && Threads % emulated::kLanes == 0);
  emulated::attend(emulated::block().named[First + which], Threads, true, "the others of a named barrier",
                   place);
}
template <int First, int Count, int Threads>
void arrive(int which, const emulated::Place& place = emulated::Place::current()) {
  static_assert(First > 0 && First + Count <= 16 && Threads % emulated::kLanes == 0);
  emulated::attend(emulated::block().named[First + which], Threads, false, "", place);
}
