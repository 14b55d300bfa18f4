#include "tile_core/runtime/counters.h"

#include <cuda.h>
#include <memory>

#include "tile_core/base/error.h"
#include "tile_core/codegen/kernel_text.h"
#include "tile_core/runtime/driver.h"
#include "tile_core/runtime/driver_table.h"

namespace tessera {
namespace {

/// The graph that captures what is given to the stream; null where none does.
CUgraph capturing_graph(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  driver::check(driver::table().stream_get_capture_info(stream, &status, nullptr, &graph, nullptr, nullptr),
                "cuStreamGetCaptureInfo", "looking for the graph that captures a launch");
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph : nullptr;
}

}  // namespace

/// A counter that a graph holds.
struct Counters::Held {
  Counters* counters = nullptr;
  int number = 0;
};

/// Called by the driver, whose locks may be held.
void Counters::give_back(void* held) {
  const std::unique_ptr<Held> mine(static_cast<Held*>(held));
  mine->counters->free(mine->number);
}

void Counters::free(int number) {
  const std::scoped_lock lock(free_mutex_);
  free_.push_back(number);
}

int Counters::of_stream(CUstream_st* stream) {
  unsigned long long id = 0;
  driver::check(driver::table().stream_get_id(stream, &id), "cuStreamGetId", "giving a launch its counter");
  if (const auto known = streams_.find(id); known != streams_.end()) return known->second;
  if (streams_.size() == kOfStreams) {
    driver::check(driver::table().ctx_synchronize(), "cuCtxSynchronize",
                  "waiting until the counters of former streams are free");
    streams_.clear();
  }
  const int number = static_cast<int>(streams_.size());
  streams_[id] = number;
  return number;
}

int Counters::of_graph(const std::string& kernel) {
  {
    const std::scoped_lock lock(free_mutex_);
    if (!free_.empty()) {
      const int number = free_.back();
      free_.pop_back();
      return number;
    }
  }
  if (next_ < kCounters) return next_++;
  throw UserError::format(
      "kernel {}: CUDA graphs hold {} launches of it, each with a counter that it draws its tiles from, and "
      "there are no more; destroy graphs, or choose a plan without grid=counter; the capture stays usable",
      kernel, kCounters - kOfStreams);
}

Counters::Taken Counters::take(const std::string& kernel, CUstream_st* stream) {
  CUgraph graph = capturing_graph(stream);
  Taken taken{.number = 0, .lock = std::unique_lock(mutex_)};
  if (graph == nullptr) {
    taken.number = of_stream(stream);
    return taken;
  }
  taken.number = of_graph(kernel);
  auto held = std::make_unique<Held>(Held{this, taken.number});
  CUuserObject object = nullptr;
  const CUresult created = driver::table().user_object_create(&object, held.get(), &Counters::give_back, 1,
                                                              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  if (created != CUDA_SUCCESS) free(taken.number);
  driver::check(created, "cuUserObjectCreate", "having a graph give a counter back");
  static_cast<void>(held.release());  // the object's
  const CUresult retained =
      driver::table().graph_retain_user_object(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
  if (retained != CUDA_SUCCESS) static_cast<void>(driver::table().user_object_release(object, 1));
  driver::check(retained, "cuGraphRetainUserObject", "having a graph hold a counter");
  return taken;
}

}  // namespace tessera
