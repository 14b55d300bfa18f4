// Runs the blocks of a grid, one cluster after another, or several side by side.
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

/// Lets every fiber of the cluster go on once; returns how many have ended.
inline int run_round() {
  const int threads = block().threads, all = threads * static_cast<int>(cluster.blocks.size());
  int ended = 0;
  for (int i = 0; i < all && cluster.error[0] == 0; ++i) {
    const int next = block().late ? i : all - 1 - i;
    cluster.running = next / threads;
    block().running = next % threads;
    if (!self().ended) swapcontext(&cluster.scheduler, &self().context);
    ended += self().ended ? 1 : 0;
  }
  return ended;
}

inline void check_blocks_ended() {
  for (const Block& b : cluster.blocks) {
    cluster.running = b.rank;
    check_ended();
  }
}

/// Runs clusters side by side, in rounds, until all their fibers have ended, or none can go on. The one that
/// something went wrong in is the running one in the end.
inline void run_clusters(std::vector<Cluster>& clusters) {
  const int threads = clusters.front().blocks.front().threads;
  const int all = threads * static_cast<int>(clusters.front().blocks.size() * clusters.size());
  for (int ended = 0; ended < all;) {
    ended = 0;
    bool moved = false;
    for (Cluster& next : clusters) {
      std::swap(cluster, next);
      const unsigned before = cluster.steps;
      ended += run_round();
      moved = moved || cluster.steps != before;
      if (cluster.error[0] != 0) return;
      std::swap(cluster, next);
    }
    if (ended == all || moved) continue;
    std::swap(cluster,
              *std::find_if(clusters.begin(), clusters.end(), [](const Cluster& c) { return c.alive > 0; }));
    return report_deadlock(ended, all);
  }
  for (Cluster& next : clusters) {
    std::swap(cluster, next);
    check_blocks_ended();
    if (cluster.error[0] != 0) return;
    std::swap(cluster, next);
  }
}

inline void start_cluster(int64 first_block, char* stacks) {
  const std::size_t bytes = static_cast<std::size_t>(block().threads) * kStackBytes;
  for (std::size_t rank = 0; rank < cluster.blocks.size(); ++rank) {
    cluster.running = cluster.blocks[rank].rank = static_cast<int>(rank);
    start_block(first_block + cluster.running, stacks + rank * bytes);
  }
  cluster.running = 0;
  cluster.whole = Meeting();
  cluster.alive = block().threads * static_cast<int>(cluster.blocks.size());
}

/// Runs every block, so many clusters at a time; returns what went wrong, or null.
inline const char* run_grid(int64 side_by_side) {
  const std::size_t bytes = static_cast<std::size_t>(block().threads) * kStackBytes * cluster.blocks.size();
  const std::size_t all = bytes * static_cast<std::size_t>(side_by_side);
  char* stacks = static_cast<char*>(
      mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (stacks == MAP_FAILED) return "no memory for the stacks of a block's threads";
  const Cluster fresh = cluster;
  const int64 count = block().count, blocks = static_cast<int64>(cluster.blocks.size());
  counter = nullptr;
  for (int64 first = 0; first < count && cluster.error[0] == 0;) {
    std::vector<Cluster> clusters;
    for (; static_cast<int64>(clusters.size()) < side_by_side && first < count; first += blocks) {
      cluster = fresh;
      start_cluster(first, stacks + bytes * clusters.size());
      clusters.push_back(std::move(cluster));
    }
    cluster = fresh;
    run_clusters(clusters);
  }
  munmap(stacks, all);
  if (cluster.error[0] == 0 && counter != nullptr && *counter != 0)
    std::snprintf(cluster.error, sizeof cluster.error, "%s ends and leaves its counter at %u",
                  fresh.blocks.front().kernel, *counter);
  if (counter != nullptr) *counter = 0;  // for the next launch
  return cluster.error[0] == 0 ? nullptr : cluster.error;
}

}  // namespace emulated
