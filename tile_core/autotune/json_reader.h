#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::autotune {

/// A value of a JSON document and where it stands. Every reading checks kind and range and throws UserError
/// "FILE: PLACE: expected ..., but got ...". The document must outlive it.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& value, std::string place) : value_(&value), place_(std::move(place)) {}

  JsonReader member(const std::string& name) const;  ///< of an object
  std::optional<JsonReader> optional_member(const std::string& name) const;
  std::vector<JsonReader> items() const;  ///< of a list
  std::vector<std::pair<std::string, JsonReader>> members() const;

  bool is_null() const { return value_->is_null(); }
  std::int64_t integer(std::int64_t lowest, std::int64_t highest) const;
  double number(double lowest, double highest) const;
  std::string text() const;

  /// Throws: this value is not what `expected` says.
  [[noreturn]] void refuse(const std::string& expected) const;

 private:
  const nlohmann::json* value_;
  std::string place_;
};

/// The document in a file; throws UserError where it cannot be read, is above `most_bytes` or is no JSON.
nlohmann::json read_json_file(const std::string& path, std::uintmax_t most_bytes);
/// Writes another file and renames it: readers see the old document or the new one. Throws UserError.
void write_json_file(const std::string& path, const nlohmann::json& document);

}  // namespace tessera::autotune
