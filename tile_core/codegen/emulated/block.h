// The blocks of a cluster on a CPU, one fiber per thread. A fiber runs until it waits for others, then the
// next one does.
namespace emulated {

using Place = std::source_location;
/// How far one has seen the others: of every agent, the time until which all that it did comes before.
using Clock = std::vector<unsigned>;

/// An asynchronous copy that is unfinished.
struct Copy {
  unsigned char* to;
  const void* from;
  int bytes;
  bool inside;
};

/// A box on its way between a tensor and shared memory.
struct BoxCopy {
  const TensorMap* map;
  int first[TensorMap::kMaxRank];
  unsigned at;  // address of shared memory
  int rank;     // of the block whose memory that is
  bool accumulates = false;
};

/// One thread's part of a dot that is in flight.
struct Dot {
  void (*run)(const Dot& dot) = nullptr;
  float* sum = nullptr;
  int columns = 0;
  bool added = false;               // to what `sum` held
  const void* registers = nullptr;  // the operand a, where it is no slot
  unsigned long long a = 0, b = 0;  // descriptors
  bool a_major = false, b_major = false;
  Place place;
  std::vector<float> held;  // what `sum` held, of the first dot in flight on it
  unsigned short read[8];   // what was in the registers
  float left[2][16];        // rows of a in registers, of the four lanes that hold them
};

struct Fiber {
  ucontext_t context;
  bool ended = false;
  const char* waits = "";  // for what
  Place waits_at;
  Clock clock;
  std::vector<unsigned> fences;  // own times at which what was written became fit for the async proxy
  unsigned shuffles = 0;         // reached
  int64 shown[2][3];             // to the other lanes by the last two shuffles
  std::vector<Copy> open;        // copies since the last commit
  std::vector<std::vector<Copy>> groups;  // the oldest first
  std::vector<BoxCopy> open_stores;
  std::vector<std::vector<BoxCopy>> stores;
  unsigned committed_stores = 0;
  bool fenced_dots = false;  // since the last commit
  std::vector<Dot> open_dots;
  std::vector<std::vector<Dot>> dots;
  unsigned committed_dots = 0;
};

/// Threads that wait for each other.
struct Meeting {
  int expected = 0;
  int arrived = 0;
  unsigned rounds = 0;
  Clock gathered, agreed;  // of this round and of the last
};

struct Mbarrier {
  int agent = 0;
  int expected = 0;
  int pending = 0;      // arrivals
  int64 bytes = 0;      // that are due
  unsigned phases = 0;  // that have ended
  bool fenced = false;
  Clock gathered, agreed;
  std::vector<BoxCopy> coming;
};

/// When an agent did something. Agents are, of every block of the cluster, the threads, then the dots of each
/// warpgroup, the copies out of each warp, and what comes in by each mbarrier.
struct Stamp {
  int agent = -1;
  unsigned time = 0;
};

/// What has happened to a byte of shared memory.
struct Shadow {
  static constexpr int kReaders = 4;
  bool written = false;
  bool copying = false;
  bool mbarrier = false;
  bool asynchronous = false;  // the writer
  Stamp writer;
  Stamp readers[kReaders];
};

constexpr int kLanes = 32;
constexpr int kGroup = 128;  // threads of a warpgroup
constexpr int kMbarriers = 64;
constexpr std::size_t kStackBytes = 256 * 1024;
constexpr unsigned char kUnwritten = 0xff;  // NaN in every float type
constexpr unsigned kSharedStart = 1024;     // address of a block's first byte; the system has those before
constexpr int kRankBit = 24;                // from which on an address has the rank of its block
constexpr std::size_t kSharedAlignment = 1024;

struct Block {
  const char* kernel = "";
  void (*body)(const void* parameters) = nullptr;
  const void* parameters = nullptr;
  int threads = 0;
  const void* const* tensors = nullptr;  // begin and end of each
  int64 tensor_count = 0;
  bool late = false;  // asynchronous copies and dots happen when they are waited for, else at once

  int64 number = 0;
  int64 count = 0;
  int rank = 0;  // in its cluster
  std::vector<Fiber> fibers;
  std::vector<unsigned char> memory;
  unsigned char* shared = nullptr;  // in `memory`, aligned
  std::size_t shared_bytes = 0;
  std::vector<Shadow> shadows;
  Meeting whole;
  Place whole_at;  // where the first of the threads stands
  std::map<int, Meeting> named, warps, groups;
  std::map<unsigned, Mbarrier> mbarriers;  // by address
  std::map<int, unsigned> visitors;  // agents of other blocks, and when they last came to this one's memory
  int running = 0;
};

struct Cluster {
  std::vector<Block> blocks = std::vector<Block>(1);  // by rank
  int running = 0;
  int alive = 0;       // threads that have not ended
  unsigned steps = 0;  // of any fiber
  Meeting whole;
  ucontext_t scheduler;
  char error[1024] = "";
};
inline Cluster cluster;              // that of the running thread
inline unsigned* counter = nullptr;  // that the launch draws its tiles from

inline Block& block_of(int rank) {
  return cluster.blocks[static_cast<std::size_t>(rank)];
}
/// That of the running thread.
inline Block& block() {
  return block_of(cluster.running);
}
inline Fiber& fiber(int thread) {
  return block().fibers[static_cast<std::size_t>(thread)];
}
inline Fiber& self() {
  return fiber(block().running);
}

/// Ends the run with a message: what, in which thread, and from where in the operator's file.
[[noreturn]] inline void fail(const Place& place, const char* format, ...) {
  char what[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  std::snprintf(cluster.error, sizeof cluster.error, "%s: thread %d of block %lld %s   --> %s:%u",
                block().kernel, block().running, block().number, what, place.file_name(),
                static_cast<unsigned>(place.line()));
  setcontext(&cluster.scheduler);
  __builtin_unreachable();
}

/// Lets other fibers run until `ready` holds.
template <typename Ready>
void wait_until(const char* what, const Place& place, const Ready& ready) {
  Fiber& f = self();
  f.waits = what;
  f.waits_at = place;
  for (++cluster.steps; !ready();) swapcontext(&f.context, &cluster.scheduler);
  ++cluster.steps;
}

}  // namespace emulated
