#pragma once
#include "tile_core/autotune/json_reader.h"
#include "tile_core/autotune/key.h"
#include "tile_core/autotune/variant.h"

/// Keys and variants in the files of records and of frozen plans. Reading checks every value and throws
/// UserError.
namespace tessera::autotune {

nlohmann::json to_json(const Key& key);
Key key_from_json(const JsonReader& json);

nlohmann::json to_json(const Variant& variant);
Variant variant_from_json(const JsonReader& json);

}  // namespace tessera::autotune
