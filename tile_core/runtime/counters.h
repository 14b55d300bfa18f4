#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

struct CUstream_st;

namespace tessera {

/// Which counter a launch of one kernel in one context draws its tiles from (kCounters of them stand in its
/// module): none that another launch may use at the same time. The launches of a stream run one after
/// another, and share one; the stream is known by its id, which no later one has, where a handle may come
/// again while work of the stream before still runs. A launch that a graph captures runs beside whatever the
/// graph is launched beside, and has one of its own until the graph, and what was instantiated from it, are
/// destroyed. (Instances of one graph that run at the same time write the same outputs, too: they are the
/// caller's to order.)
class Counters {
 public:
  /// A counter's number; no other launch takes a counter while this is held, as it is until the launch is in
  /// its stream.
  struct Taken {
    int number = 0;
    std::unique_lock<std::mutex> lock;
  };

  /// For a launch of `kernel` on `stream`. Where every counter has been some stream's, waits once for all
  /// work of the context. Throws UserError where graphs hold all of theirs, DriverError where the driver
  /// refuses.
  Taken take(const std::string& kernel, CUstream_st* stream);

  static constexpr int kOfStreams = 1 << 14;

 private:
  struct Held;
  static void give_back(void* held);
  int of_stream(CUstream_st* stream);
  int of_graph(const std::string& kernel);
  void free(int number);

  std::mutex mutex_;                                // held until a launch is in its stream
  std::unordered_map<std::uint64_t, int> streams_;  // by id
  int next_ = kOfStreams;                           // of those that no graph has had
  std::mutex free_mutex_;                           // not held while the driver is called, which gives back
  std::vector<int> free_;                           // that graphs have given back
};

}  // namespace tessera
