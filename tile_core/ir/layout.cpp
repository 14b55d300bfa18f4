#include "tile_core/ir/layout.h"

#include <algorithm>
#include <map>

#include "tile_core/base/error.h"

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

std::vector<int> Layout::registers_in(const Layout& other) const {
  std::vector<AxisId> axes;
  for (const Repeat& r : other.repeats_) {
    if (r.place == Place::reg) axes.push_back(r.axis);
  }
  auto key = [&axes](const Layout& layout, int reg) {
    std::vector<int> coordinates;
    for (AxisId axis : axes) coordinates.push_back(layout.coordinate(Place::reg, reg, axis));
    return coordinates;
  };
  std::map<std::vector<int>, int> found;
  for (int reg = other.count(Place::reg) - 1; reg >= 0; --reg) found[key(other, reg)] = reg;
  std::vector<int> result;
  for (int reg = 0; reg < count(Place::reg); ++reg) {
    auto it = found.find(key(*this, reg));
    if (it == found.end())
      throw InternalError::format("layout: register {} holds an element that the other layout lacks", reg);
    result.push_back(it->second);
  }
  return result;
}

}  // namespace tessera
