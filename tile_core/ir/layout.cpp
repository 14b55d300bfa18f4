#include "tile_core/ir/layout.h"

#include <algorithm>

namespace tessera {
namespace {

bool continues(const Repeat& inner, const Repeat& outer) {
  if (inner.place != outer.place || inner.axis != outer.axis) return false;
  return inner.axis == AxisId::none || outer.stride == inner.stride * inner.count;
}

}  // namespace

Layout::Layout(std::vector<Repeat> repeats) {
  std::stable_sort(repeats.begin(), repeats.end(),
                   [](const Repeat& a, const Repeat& b) { return a.place < b.place; });
  for (Repeat r : repeats) {
    if (r.count == 1) continue;
    if (r.axis == AxisId::none) r.stride = 0;
    if (!repeats_.empty() && continues(repeats_.back(), r)) {
      repeats_.back().count *= r.count;
    } else {
      repeats_.push_back(r);
    }
  }
}

int Layout::count(Place place) const {
  int count = 1;
  for (const Repeat& r : repeats_) {
    if (r.place == place) count *= r.count;
  }
  return count;
}

int Layout::count(Place place, AxisId axis) const {
  int count = 1;
  for (const Repeat& r : repeats_) {
    if (r.place == place && r.axis == axis) count *= r.count;
  }
  return count;
}

int Layout::extent(AxisId axis) const {
  int extent = 1;
  for (const Repeat& r : repeats_) {
    if (r.axis == axis) extent *= r.count;
  }
  return extent;
}

int Layout::coordinate(Place place, int i, AxisId axis) const {
  int coordinate = 0;
  for (const Repeat& r : repeats_) {
    if (r.place != place) continue;
    if (r.axis == axis) coordinate += i % r.count * r.stride;
    i /= r.count;
  }
  return coordinate;
}

Layout Layout::drop(AxisId axis) const {
  std::vector<Repeat> kept;
  for (Repeat r : repeats_) {
    if (r.axis == axis) {
      if (r.place == Place::reg) continue;
      r.axis = AxisId::none;
    }
    kept.push_back(r);
  }
  return Layout(std::move(kept));
}

Layout Layout::restrict_to(const std::vector<AxisId>& axes) const {
  Layout result = *this;
  for (const Repeat& r : repeats_) {
    if (r.axis != AxisId::none && std::find(axes.begin(), axes.end(), r.axis) == axes.end())
      result = result.drop(r.axis);
  }
  return result;
}

Layout Layout::rename(AxisId from, AxisId to) const {
  std::vector<Repeat> renamed = repeats_;
  for (Repeat& r : renamed) {
    if (r.axis == from) r.axis = to;
  }
  return Layout(std::move(renamed));
}

Layout Layout::slice(AxisId of, AxisId to, int extent) const {
  std::vector<Repeat> kept;
  for (Repeat r : repeats_) {
    if (r.axis == of) {
      r.axis = to;
      if (r.stride * r.count > extent) {  // the digit counts slices, or lanes of one and slices
        int lanes = r.stride < extent ? extent / r.stride : 1;
        if (r.place != Place::reg || r.count % lanes != 0) return {};
        r.count = lanes;
      }
    }
    kept.push_back(r);
  }
  return Layout(std::move(kept));
}

}  // namespace tessera
