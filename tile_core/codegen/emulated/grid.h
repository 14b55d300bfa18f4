// Runs the blocks of a grid, one after another.
namespace emulated {

inline void run_fiber() {
  block.body(block.parameters);
  const Fiber& f = self();
  if (!f.open.empty() || !f.groups.empty()) fail(Place(), "ends with copies that no wait covers");
  if (!f.open_stores.empty() || !f.stores.empty()) fail(Place(), "ends with copies out that no wait covers");
  if (!f.open_dots.empty() || !f.dots.empty()) fail(Place(), "ends with dots that no wait covers");
  self().ended = true;
  ++block.steps;
  swapcontext(&self().context, &block.scheduler);
}

inline void start_fiber(int thread, char* stacks) {
  Fiber& f = fiber(thread);
  f = Fiber();
  f.clock.assign(static_cast<std::size_t>(block.threads + block.threads / kLanes * 2 + kMbarriers), 0);
  f.clock[static_cast<std::size_t>(thread)] = 1;
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = stacks + static_cast<std::size_t>(thread) * kStackBytes;
  f.context.uc_stack.ss_size = kStackBytes;
  makecontext(&f.context, run_fiber, 0);
}

inline void start_block(int64 number, char* stacks) {
  block.number = number;
  block.whole = Meeting();
  block.named.clear(), block.warps.clear(), block.groups.clear(), block.mbarriers.clear();
  block.memory.assign(block.shared_bytes + kSharedAlignment, kUnwritten);
  const std::size_t over = reinterpret_cast<std::size_t>(block.memory.data()) % kSharedAlignment;
  block.shared = block.memory.data() + (kSharedAlignment - over);
  block.shadows.assign(block.shared_bytes, Shadow());
  for (int i = 0; i < block.threads; ++i) start_fiber(i, stacks);
}

/// "128 wait for the others at line 7, ..."
inline void report_deadlock(int ended) {
  std::map<std::pair<std::string, unsigned>, int> waits;
  for (const Fiber& f : block.fibers) {
    if (!f.ended) ++waits[{f.waits, static_cast<unsigned>(f.waits_at.line())}];
  }
  std::string text;
  for (const auto& [wait, count] : waits)
    text +=
        ", " + std::to_string(count) + " wait for " + wait.first + " at line " + std::to_string(wait.second);
  std::snprintf(block.error, sizeof block.error, "%s: block %lld: deadlock: %d of %d threads have ended%s",
                block.kernel, block.number, ended, block.threads, text.c_str());
}

/// Runs the fibers in turn until all have ended, or none can go on.
inline void run_block() {
  for (int ended = 0; ended < block.threads;) {
    ended = 0;
    const unsigned before = block.steps;
    for (int i = 0; i < block.threads; ++i) {
      block.running = block.late ? i : block.threads - 1 - i;
      if (!self().ended) swapcontext(&block.scheduler, &self().context);
      if (block.error[0] != 0) return;
      ended += self().ended ? 1 : 0;
    }
    if (ended < block.threads && block.steps == before) return report_deadlock(ended);
  }
  for (const auto& [address, mbarrier] : block.mbarriers) {
    if (mbarrier.coming.empty()) continue;
    std::snprintf(block.error, sizeof block.error,
                  "%s: block %lld ends before copies have landed that the mbarrier at byte %u counts",
                  block.kernel, block.number, address - kSharedStart);
  }
}

/// Runs every block; returns what went wrong, or null.
inline const char* run_grid(int64 blocks, int64 shared_bytes) {
  const std::size_t bytes = static_cast<std::size_t>(block.threads) * kStackBytes;
  void* stacks =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) return "no memory for the stacks of a block's threads";
  block.fibers.resize(static_cast<std::size_t>(block.threads));
  block.count = blocks;
  block.shared_bytes = static_cast<std::size_t>(shared_bytes);
  block.error[0] = 0;
  for (int64 number = 0; number < blocks && block.error[0] == 0; ++number) {
    start_block(number, static_cast<char*>(stacks));
    run_block();
  }
  munmap(stacks, bytes);
  return block.error[0] == 0 ? nullptr : block.error;
}

}  // namespace emulated
