#include "models/safetensors.h"

#include <ATen/ops/from_file.h>
#include <algorithm>
#include <bit>
#include <c10/util/Exception.h>
#include <c10/util/safe_numerics.h>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tile_core/base/error.h"

namespace tessera::models {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

using Json = nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit

struct DtypeName {
  const char* name;
  at::ScalarType dtype;
};

constexpr DtypeName kDtypes[] = {{"F64", at::kDouble},    {"F32", at::kFloat}, {"F16", at::kHalf},
                                 {"BF16", at::kBFloat16}, {"I64", at::kLong},  {"I32", at::kInt},
                                 {"I16", at::kShort},     {"I8", at::kChar},   {"U8", at::kByte},
                                 {"BOOL", at::kBool}};

at::ScalarType dtype_of(const std::string& tensor, const std::string& name) {
  std::string known;
  for (const DtypeName& entry : kDtypes) {
    if (entry.name == name) return entry.dtype;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw UserError::format("'{}' has dtype {}, known are {}", tensor, name, known);
}

const char* name_of(const std::string& tensor, at::ScalarType dtype) {
  for (const DtypeName& entry : kDtypes)
    if (entry.dtype == dtype) return entry.name;
  throw UserError::format("'{}' has dtype {}, which the format lacks", tensor, c10::toString(dtype));
}

/// One tensor of the header; begin and end are bytes from the end of the header.
struct Entry {
  std::string name;
  at::ScalarType dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end;
};

uint64_t byte_count(const Entry& entry) {
  uint64_t bytes = c10::elementSize(entry.dtype);
  for (int64_t size : entry.shape) {
    if (size < 0 || c10::mul_overflows(bytes, static_cast<uint64_t>(size), &bytes))
      throw UserError::format("'{}' has the impossible shape {}", entry.name,
                              c10::str(c10::IntArrayRef(entry.shape)));
  }
  return bytes;
}

/// The header's JSON. nlohmann keeps the last of two equal names, so they are looked for while it parses.
Json parse_header(std::string_view text) {
  std::set<std::string> names;
  auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
      throw UserError::format("'{}' comes twice", parsed.get<std::string>());
    return true;
  };
  Json header = Json::parse(text, watch);
  if (!header.is_object()) throw UserError("its header is not a JSON object");
  return header;
}

std::vector<Entry> entries_of(const Json& header) {
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    const auto& [begin, end] = value.at("data_offsets").get<std::pair<uint64_t, uint64_t>>();
    entries.push_back({name, dtype_of(name, value.at("dtype")), value.at("shape"), begin, end});
  }
  return entries;
}

/// The tensors must cover the data without gaps: so the format says, and it leaves no room for a second file.
void check_offsets(std::vector<Entry> entries, uint64_t data_bytes) {
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  uint64_t covered = 0;
  std::string before = "the header";
  for (const Entry& entry : entries) {
    if (entry.begin != covered)
      throw UserError::format("'{}' begins at byte {}, but {} ends at byte {}", entry.name, entry.begin,
                              before, covered);
    if (entry.end < entry.begin || entry.end - entry.begin != byte_count(entry))
      throw UserError::format("'{}' has bytes {} to {}, but {} {} needs {} bytes", entry.name, entry.begin,
                              entry.end, c10::toString(entry.dtype), c10::str(c10::IntArrayRef(entry.shape)),
                              byte_count(entry));
    covered = entry.end;
    before = "'" + entry.name + "'";
  }
  if (covered != data_bytes)
    throw UserError::format("its tensors have {} bytes, but {} follow the header: truncated or damaged",
                            covered, data_bytes);
}

TensorMap read(const std::filesystem::path& file) {
  std::error_code failed;
  uint64_t size = std::filesystem::file_size(file, failed);
  if (failed) throw UserError(failed.message());
  uint64_t length = 0;
  if (size < sizeof(length)) throw UserError::format("{} bytes are too few for a header", size);
  at::Tensor bytes = at::from_file(file.string(), /*shared=*/false, static_cast<int64_t>(size), at::kByte);
  std::memcpy(&length, bytes.const_data_ptr(), sizeof(length));
  if (length > kMaxHeader || length > size - sizeof(length))
    throw UserError::format("its header should have {} bytes, but the file has {} (at most {} are legal)",
                            length, size, kMaxHeader);

  auto text = reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>()) + sizeof(length);
  std::vector<Entry> entries = entries_of(parse_header({text, length}));
  uint64_t data = sizeof(length) + length;
  check_offsets(entries, size - data);
  TensorMap tensors;
  for (const Entry& entry : entries) {
    at::Tensor part =
        bytes.slice(0, static_cast<int64_t>(data + entry.begin), static_cast<int64_t>(data + entry.end));
    if ((data + entry.begin) % c10::elementSize(entry.dtype) != 0)
      part = part.clone();  // older writers do not align
    tensors[entry.name] = part.view(entry.dtype).view(entry.shape);
  }
  return tensors;
}

void write(const std::filesystem::path& file, const TensorMap& tensors) {
  Json header = Json::object();
  uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    uint64_t begin = end;
    end += tensor.nbytes();
    header[name] = {{"dtype", name_of(name, tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data are aligned
  uint64_t length = text.size();
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out << text;
  for (const auto& [name, tensor] : tensors) {
    at::Tensor dense = tensor.detach().cpu().contiguous();
    out.write(static_cast<const char*>(dense.const_data_ptr()), static_cast<std::streamsize>(dense.nbytes()));
  }
  out.close();
  if (!out) throw UserError("cannot write it; is the folder there, writable, and the disk not full?");
}

}  // namespace

TensorMap read_safetensors(const std::filesystem::path& file) try {
  return read(file);
} catch (const std::exception& error) {
  throw UserError::format("safetensors file {}: {}", file.string(), error.what());
}

void write_safetensors(const std::filesystem::path& file, const TensorMap& tensors) try {
  std::filesystem::path partial = file;
  partial += ".partial";
  write(partial, tensors);
  std::filesystem::rename(partial, file);
} catch (const std::exception& error) {
  throw UserError::format("safetensors file {}: {}", file.string(), error.what());
}

}  // namespace tessera::models
