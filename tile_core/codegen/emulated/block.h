// A block of threads on a CPU, one fiber per thread. A fiber runs until it waits for others, then the next
// one does. Wrong order of accesses to shared memory is found from who touched each byte since the last
// barrier, not by chance.
namespace emulated {

using Place = std::source_location;

/// An asynchronous copy that is unfinished.
struct Copy {
  unsigned char* to;
  const void* from;
  int bytes;
  bool inside;
};

struct Fiber {
  ucontext_t context;
  bool ended = false;
  unsigned barriers = 0;                  // reached
  unsigned shuffles = 0;                  // reached
  int64 shown[2];                         // to the other lanes by the last two shuffles
  std::vector<Copy> open;                 // copies since the last commit
  std::vector<std::vector<Copy>> groups;  // the oldest first
};

constexpr int kNobody = -1;
constexpr int kSeveral = -2;

/// What has happened to a byte of shared memory.
struct Shadow {
  bool written = false;
  bool copying = false;
  int writer = kNobody;
  int reader = kNobody;
  unsigned written_at = 0;  // the number of barriers by then
  unsigned read_at = 0;
};

constexpr int kLanes = 32;
constexpr std::size_t kStackBytes = 256 * 1024;
constexpr unsigned char kUnwritten = 0xff;  // NaN in every float type

struct Block {
  const char* kernel = "";
  void (*body)(const void* parameters) = nullptr;
  const void* parameters = nullptr;
  int threads = 0;
  const void* const* tensors = nullptr;  // begin and end of each
  int64 tensor_count = 0;
  bool late = false;  // asynchronous copies happen when they are waited for, else at once

  int64 number = 0;
  std::vector<Fiber> fibers;
  std::vector<unsigned char> shared;
  std::vector<Shadow> shadows;
  unsigned barriers = 0;  // that every thread has reached
  int arrived = 0;        // at the next
  Place barrier;          // that the first of them stands at
  int running = 0;
  ucontext_t scheduler;
  char error[1024] = "";
};
inline Block block;

inline Fiber& fiber(int thread) {
  return block.fibers[static_cast<std::size_t>(thread)];
}
inline Fiber& self() {
  return fiber(block.running);
}

/// Ends the run with a message: what, in which thread, and from where in the operator's file.
[[noreturn]] inline void fail(const Place& place, const char* format, ...) {
  char what[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  std::snprintf(block.error, sizeof block.error, "%s: thread %d of block %lld %s   --> %s:%u", block.kernel,
                block.running, block.number, what, place.file_name(), static_cast<unsigned>(place.line()));
  setcontext(&block.scheduler);
  __builtin_unreachable();
}

/// Lets other fibers run until `ready` holds.
template <typename Ready>
void wait_until(const Ready& ready) {
  while (!ready()) swapcontext(&self().context, &block.scheduler);
}

inline void run_fiber() {
  block.body(block.parameters);
  if (!self().open.empty() || !self().groups.empty()) fail(Place(), "ends with copies that no wait covers");
  self().ended = true;
  swapcontext(&self().context, &block.scheduler);
}

inline unsigned steps_taken() {
  unsigned steps = 0;
  for (const Fiber& f : block.fibers) steps += f.barriers + f.shuffles + (f.ended ? 1 : 0);
  return steps;
}

inline void start_block(int64 number, char* stacks) {
  block.number = number;
  block.barriers = 0;
  block.arrived = 0;
  block.barrier = Place();
  block.shared.assign(block.shared.size(), kUnwritten);
  block.shadows.assign(block.shared.size(), Shadow());
  for (int i = 0; i < block.threads; ++i) {
    Fiber& f = fiber(i);
    f = Fiber();
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = stacks + static_cast<std::size_t>(i) * kStackBytes;
    f.context.uc_stack.ss_size = kStackBytes;
    makecontext(&f.context, run_fiber, 0);
  }
}

/// Runs the fibers in turn until all have ended, or none can go on.
inline void run_block() {
  for (int ended = 0; ended < block.threads;) {
    ended = 0;
    const unsigned before = steps_taken();
    for (int i = 0; i < block.threads; ++i) {
      block.running = block.late ? i : block.threads - 1 - i;
      if (!self().ended) swapcontext(&block.scheduler, &self().context);
      if (block.error[0] != 0) return;
      ended += self().ended ? 1 : 0;
    }
    if (ended == block.threads || steps_taken() != before) continue;
    std::snprintf(block.error, sizeof block.error,
                  "%s: block %lld: deadlock: %d of %d threads have ended, %d wait at the barrier of line %u, "
                  "the rest for "
                  "lanes of their warp",
                  block.kernel, block.number, ended, block.threads, block.arrived,
                  static_cast<unsigned>(block.barrier.line()));
    return;
  }
}

/// Runs every block; returns what went wrong, or null.
inline const char* run_grid(int64 blocks, int64 shared_bytes) {
  const std::size_t bytes = static_cast<std::size_t>(block.threads) * kStackBytes;
  void* stacks =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) return "no memory for the stacks of a block's threads";
  block.fibers.resize(static_cast<std::size_t>(block.threads));
  block.shared.resize(static_cast<std::size_t>(shared_bytes));
  block.error[0] = 0;
  for (int64 number = 0; number < blocks && block.error[0] == 0; ++number) {
    start_block(number, static_cast<char*>(stacks));
    run_block();
  }
  munmap(stacks, bytes);
  return block.error[0] == 0 ? nullptr : block.error;
}

}  // namespace emulated
