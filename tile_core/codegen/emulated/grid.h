// Runs the blocks of a grid, one cluster after another.
namespace emulated {

void end_cluster_round();

inline void run_fiber() {
  block().body(block().parameters);
  const Fiber& f = self();
  if (!f.open.empty() || !f.groups.empty()) fail(Place(), "ends with copies that no wait covers");
  if (!f.open_stores.empty() || !f.stores.empty()) fail(Place(), "ends with copies out that no wait covers");
  if (!f.open_dots.empty() || !f.dots.empty()) fail(Place(), "ends with dots that no wait covers");
  self().ended = true;
  --cluster.alive;
  end_cluster_round();
  ++cluster.steps;
  swapcontext(&self().context, &cluster.scheduler);
}

int agents();
int agent_of_thread(int thread);

inline void start_fiber(int thread, char* stacks) {
  Fiber& f = fiber(thread);
  f = Fiber();
  f.clock.assign(static_cast<std::size_t>(agents()) * cluster.blocks.size(), 0);
  f.clock[static_cast<std::size_t>(agent_of_thread(thread))] = 1;
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = stacks + static_cast<std::size_t>(thread) * kStackBytes;
  f.context.uc_stack.ss_size = kStackBytes;
  makecontext(&f.context, run_fiber, 0);
}

inline void start_block(int64 number, char* stacks) {
  Block& b = block();
  b.number = number;
  b.whole = Meeting();
  b.named.clear(), b.warps.clear(), b.groups.clear(), b.mbarriers.clear(), b.visitors.clear();
  b.memory.assign(b.shared_bytes + kSharedAlignment, kUnwritten);
  const std::size_t over = reinterpret_cast<std::size_t>(b.memory.data()) % kSharedAlignment;
  b.shared = b.memory.data() + (kSharedAlignment - over);
  b.shadows.assign(b.shared_bytes, Shadow());
  b.fibers.resize(static_cast<std::size_t>(b.threads));
  for (int i = 0; i < b.threads; ++i) start_fiber(i, stacks);
}

inline const char* kernel_and_block() {
  static char text[256];
  std::snprintf(text, sizeof text, "%s: block %lld", block().kernel, block().number);
  return text;
}

/// "128 wait for the others at line 7, ..."
inline void report_deadlock(int ended, int threads) {
  std::map<std::pair<std::string, unsigned>, int> waits;
  for (const Block& b : cluster.blocks) {
    for (const Fiber& f : b.fibers) {
      if (!f.ended) ++waits[{f.waits, static_cast<unsigned>(f.waits_at.line())}];
    }
  }
  std::string text;
  for (const auto& [wait, count] : waits)
    text +=
        ", " + std::to_string(count) + " wait for " + wait.first + " at line " + std::to_string(wait.second);
  cluster.running = 0;
  std::snprintf(cluster.error, sizeof cluster.error, "%s: deadlock: %d of %d threads have ended%s",
                kernel_and_block(), ended, threads, text.c_str());
}

/// A block's memory is there until it ends: what comes to it must have come before, and been seen.
inline void check_ended() {
  for (const auto& [address, mbarrier] : block().mbarriers) {
    if (mbarrier.coming.empty()) continue;
    std::snprintf(cluster.error, sizeof cluster.error,
                  "%s ends before copies have landed that the mbarrier at byte %u counts", kernel_and_block(),
                  (address & ((1u << kRankBit) - 1)) - kSharedStart);
  }
  for (const auto& [visitor, time] : block().visitors) {
    for (const Fiber& f : block().fibers) {
      if (f.clock[static_cast<std::size_t>(visitor)] >= time) continue;
      std::snprintf(cluster.error, sizeof cluster.error,
                    "%s may end before thread %d of the block of rank %d has come to its memory",
                    kernel_and_block(), visitor % agents(), visitor / agents());
      return;
    }
  }
}

/// Runs the fibers in turn until all have ended, or none can go on.
inline void run_cluster() {
  const int threads = block().threads, all = threads * static_cast<int>(cluster.blocks.size());
  for (int ended = 0; ended < all;) {
    ended = 0;
    const unsigned before = cluster.steps;
    for (int i = 0; i < all; ++i) {
      const int next = block().late ? i : all - 1 - i;
      cluster.running = next / threads;
      block().running = next % threads;
      if (!self().ended) swapcontext(&cluster.scheduler, &self().context);
      if (cluster.error[0] != 0) return;
      ended += self().ended ? 1 : 0;
    }
    if (ended < all && cluster.steps == before) return report_deadlock(ended, all);
  }
  for (const Block& b : cluster.blocks) {
    cluster.running = b.rank;
    check_ended();
  }
}

/// Runs every block; returns what went wrong, or null.
inline const char* run_grid() {
  const std::size_t bytes = static_cast<std::size_t>(block().threads) * kStackBytes;
  const std::size_t blocks = cluster.blocks.size();
  void* stacks = mmap(nullptr, bytes * blocks, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) return "no memory for the stacks of a block's threads";
  for (int64 first = 0; first < block().count && cluster.error[0] == 0; first += static_cast<int64>(blocks)) {
    for (std::size_t rank = 0; rank < blocks; ++rank) {
      cluster.running = cluster.blocks[rank].rank = static_cast<int>(rank);
      start_block(first + cluster.running, static_cast<char*>(stacks) + rank * bytes);
    }
    cluster.whole = Meeting();
    cluster.alive = block().threads * static_cast<int>(blocks);
    run_cluster();
    cluster.running = 0;
  }
  munmap(stacks, bytes * blocks);
  return cluster.error[0] == 0 ? nullptr : cluster.error;
}

}  // namespace emulated
