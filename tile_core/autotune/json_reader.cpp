#include "tile_core/autotune/json_reader.h"

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include "tile_core/base/error.h"

namespace tessera::autotune {
namespace {

constexpr std::size_t kShown = 60;         // characters of a wrong value in a message
constexpr std::size_t kShownOfWhy = 1000;  // of the parser's own, which quotes the file

std::string shorten(std::string text, std::size_t most = kShown) {
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

/// "[json.exception.parse_error.101] parse error at line 1, column 2: ..." from the place on.
std::string why_of(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  return shorten(std::string(end == text.npos ? text : text.substr(end + 2)), kShownOfWhy);
}

}  // namespace

void JsonReader::refuse(const std::string& expected) const {
  const auto safe = nlohmann::json::error_handler_t::replace;  // invalid UTF-8 must not throw here
  throw UserError::format("{}: expected {}, but got {}", place_, expected,
                          shorten(value_->dump(-1, ' ', false, safe)));
}

JsonReader JsonReader::member(const std::string& name) const {
  const std::optional<JsonReader> found = optional_member(name);
  if (!found) refuse(fmt::format("a member '{}'", name));
  return *found;
}

std::optional<JsonReader> JsonReader::optional_member(const std::string& name) const {
  if (!value_->is_object()) refuse("an object");
  const auto found = value_->find(name);
  if (found == value_->end()) return {};
  return JsonReader(*found, fmt::format("{}.{}", place_, name));
}

std::vector<JsonReader> JsonReader::items() const {
  if (!value_->is_array()) refuse("a list");
  std::vector<JsonReader> items;
  for (const auto& item : *value_) items.emplace_back(item, fmt::format("{}[{}]", place_, items.size()));
  return items;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  if (!value_->is_object()) refuse("an object");
  std::vector<std::pair<std::string, JsonReader>> members;
  for (const auto& [name, value] : value_->items())
    members.emplace_back(name, JsonReader(value, fmt::format("{}.{}", place_, shorten(name))));
  return members;
}

std::int64_t JsonReader::integer(std::int64_t lowest, std::int64_t highest) const {
  const bool fits =
      value_->is_number_integer() &&
      (!value_->is_number_unsigned() || value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(highest));
  if (!fits || value_->get<std::int64_t>() < lowest || value_->get<std::int64_t>() > highest)
    refuse(fmt::format("a whole number from {} to {}", lowest, highest));
  return value_->get<std::int64_t>();
}

double JsonReader::number(double lowest, double highest) const {
  if (!value_->is_number() || !(value_->get<double>() >= lowest && value_->get<double>() <= highest))
    refuse(fmt::format("a number from {} to {}", lowest, highest));
  return value_->get<double>();
}

std::string JsonReader::text() const {
  if (!value_->is_string()) refuse("a text");
  return value_->get<std::string>();
}

nlohmann::json read_json_file(const std::string& path, std::uintmax_t most_bytes) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) throw UserError::format("{}: cannot be read: {}", path, error.message());
  if (bytes == 0) throw UserError::format("{}: is empty", path);
  if (bytes > most_bytes)
    throw UserError::format("{}: has {} bytes, above the limit of {}; is it the right file?", path, bytes,
                            most_bytes);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError::format("{}: cannot be opened", path);
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& e) {
    throw UserError::format("{}: is no JSON: {}", path, why_of(e));
  }
}

void write_json_file(const std::string& path, const nlohmann::json& document) {
  const std::string unfinished = fmt::format("{}.{}.tmp", path, getpid());
  std::error_code error;
  {
    errno = 0;
    std::ofstream file(unfinished, std::ios::binary);
    file << document.dump(1) << '\n';
    file.close();
    if (!file) error = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  }
  if (!error) std::filesystem::rename(unfinished, path, error);
  if (!error) return;
  std::error_code ignored;
  std::filesystem::remove(unfinished, ignored);
  throw UserError::format("{}: cannot be written: {}", path, error.message());
}

}  // namespace tessera::autotune
