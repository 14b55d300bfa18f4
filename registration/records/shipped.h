#pragma once
#include <span>
#include <string_view>

namespace tessera {

/// Records measured on known devices, one file of registration/records each, part of the library.
struct ShippedRecords {
  std::string_view name;  ///< of the file
  std::string_view text;
};
std::span<const ShippedRecords> shipped_records();

}  // namespace tessera
