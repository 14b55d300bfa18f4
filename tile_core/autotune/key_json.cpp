#include "tile_core/autotune/key_json.h"

#include <limits>

#include "tile_core/base/error.h"

namespace tessera::autotune {
namespace {

constexpr int kLargestFlag = 1 << 16;
constexpr int kLargestTile = 1 << 20;
constexpr int kWidestAccess = 16;
constexpr int kMostTensors = 32;

int small(const JsonReader& json, int lowest, int highest) {
  return static_cast<int>(json.integer(lowest, highest));
}

TensorFacts tensor_from_json(const JsonReader& json) {
  TensorFacts facts;
  const JsonReader dtype = json.member("dtype");
  try {
    facts.dtype = dtype_from_name(dtype.text());
  } catch (const UserError&) {
    dtype.refuse("a dtype");
  }
  facts.contiguous_dim = small(json.member("contiguous_dim"), -1, kMostTensors);
  facts.alignment = small(json.member("alignment"), 1, kWidestAccess);
  if (const std::optional<JsonReader> bulk = json.optional_member("bulk"))
    facts.bulk = bulk->integer(0, 1) != 0;
  return facts;
}

}  // namespace

nlohmann::json to_json(const Key& key) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const TensorFacts& t : key.facts.tensors) {
    tensors.push_back(
        {{"dtype", name_of(t.dtype)}, {"contiguous_dim", t.contiguous_dim}, {"alignment", t.alignment}});
    if (!t.bulk) tensors.back()["bulk"] = 0;
  }
  return {{"op", key.op},     {"tensors", tensors},   {"flags", nlohmann::json(key.facts.flags)},
          {"dims", key.dims}, {"device", key.device}, {"arch", key.arch}};
}

Key key_from_json(const JsonReader& json) {
  Key key;
  key.op = json.member("op").text();
  key.device = json.member("device").text();
  key.arch = json.member("arch").text();
  const JsonReader tensors = json.member("tensors");
  for (const JsonReader& tensor : tensors.items()) key.facts.tensors.push_back(tensor_from_json(tensor));
  for (const auto& [name, value] : json.member("flags").members())
    key.facts.flags[name] = small(value, 0, kLargestFlag);
  for (const auto& [name, value] : json.member("dims").members())
    key.dims[name] = value.integer(0, std::numeric_limits<std::int64_t>::max());
  return key;
}

nlohmann::json to_json(const Variant& variant) {
  return {{"tiles", nlohmann::json(variant.tiles)}, {"schedule", to_text(variant.schedule)}};
}

Variant variant_from_json(const JsonReader& json) {
  Variant variant;
  for (const auto& [name, value] : json.member("tiles").members())
    variant.tiles[name] = small(value, 0, kLargestTile);
  const JsonReader schedule = json.member("schedule");
  try {
    variant.schedule = schedule_from_text(schedule.text());
  } catch (const UserError& error) {
    schedule.refuse(fmt::format("a schedule ({})", error.what()));
  }
  return variant;
}

}  // namespace tessera::autotune
