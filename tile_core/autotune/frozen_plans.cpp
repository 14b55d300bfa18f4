#include "tile_core/autotune/frozen_plans.h"

#include "tile_core/autotune/key_json.h"
#include "tile_core/base/error.h"
#include "tile_core/base/version.h"

namespace tessera::autotune {
namespace {

constexpr std::uintmax_t kLargestFile = 256 << 20;  // of 65536 plans, with room

}  // namespace

FrozenPlans FrozenPlans::from_file(const std::string& path) {
  const nlohmann::json document = read_json_file(path, kLargestFile);
  const JsonReader json(document, path);
  json.member("format").integer(kFormat, kFormat);
  const JsonReader library = json.member("library");
  if (library.text() != version()) library.refuse(fmt::format("this library's version {}", version()));
  FrozenPlans plans;
  for (const JsonReader& entry : json.member("plans").items()) {
    const JsonReader tile = entry.member("tile");
    plans.add(key_from_json(entry.member("key")),
              tile.is_null() ? std::nullopt : std::optional(variant_from_json(tile)));
  }
  return plans;
}

void FrozenPlans::write(const std::string& path) const {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [text, plan] : plans_)
    list.push_back({{"key", to_json(plan.key)},
                    {"tile", plan.variant ? to_json(*plan.variant) : nlohmann::json(nullptr)}});
  write_json_file(path, {{"format", kFormat}, {"library", version()}, {"plans", std::move(list)}});
}

void FrozenPlans::add(const Key& key, const std::optional<Variant>& variant) {
  plans_.insert_or_assign(to_text(key), Plan{key, variant});
}

const std::optional<Variant>* FrozenPlans::find(const Key& key) const {
  const auto found = plans_.find(to_text(key));
  return found == plans_.end() ? nullptr : &found->second.variant;
}

}  // namespace tessera::autotune
