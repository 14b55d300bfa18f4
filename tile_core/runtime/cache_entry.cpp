#include "tile_core/runtime/cache_entry.h"

#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tile_core/base/sha256.h"

namespace tessera {
namespace {

constexpr std::string_view kMagic = "TSSRKRN1";  // the digit is the format's version
constexpr std::size_t kHeaderBytes = kMagic.size() + sizeof(std::uint64_t) + 64;

DecodedEntry bad(std::string problem) {
  return {std::nullopt, std::move(problem)};
}

Cubin from_facts(const nlohmann::json& facts, std::string_view image) {
  return {.key = facts.at("key"),
          .kernel = facts.at("kernel"),
          .arch = facts.at("arch"),
          .nvrtc = facts.at("nvrtc"),
          .image = std::string(image),
          .log = facts.at("log"),
          .registers = facts.at("registers"),
          .stack_bytes = facts.at("stack_bytes"),
          .spill_bytes = facts.at("spill_bytes"),
          .compile_ms = facts.at("compile_ms")};
}

}  // namespace

std::string encode_entry(const Cubin& cubin) {
  const nlohmann::json facts = {{"key", cubin.key},
                                {"kernel", cubin.kernel},
                                {"arch", cubin.arch},
                                {"nvrtc", cubin.nvrtc},
                                {"log", cubin.log},
                                {"registers", cubin.registers},
                                {"stack_bytes", cubin.stack_bytes},
                                {"spill_bytes", cubin.spill_bytes},
                                {"compile_ms", cubin.compile_ms}};
  // The log may quote any byte of the text: what is not UTF-8 is replaced.
  const std::string payload =
      facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" + cubin.image;
  const std::uint64_t length = payload.size();
  std::string bytes(kMagic);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes += sha256(payload);
  return bytes += payload;
}

DecodedEntry decode_entry(std::string_view bytes, std::string_view key) {
  if (bytes.size() < kHeaderBytes) return bad(fmt::format("is cut short ({} bytes)", bytes.size()));
  if (!bytes.starts_with(kMagic)) return bad("is not a kernel of this cache format");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + kMagic.size(), sizeof(length));
  const std::string_view payload = bytes.substr(kHeaderBytes);
  if (payload.size() != length)
    return bad(fmt::format("has {} bytes instead of {}", bytes.size(), kHeaderBytes + length));
  if (sha256(payload) != bytes.substr(kHeaderBytes - 64, 64)) return bad("has a wrong checksum");

  const std::size_t line = payload.find('\n');
  if (line == std::string_view::npos) return bad("has no facts");
  const auto facts = nlohmann::json::parse(payload.substr(0, line), nullptr, false);
  try {
    Cubin cubin = from_facts(facts, payload.substr(line + 1));
    if (!key.empty() && cubin.key != key)
      return bad(fmt::format("holds another kernel ({} for {})", cubin.kernel, cubin.arch));
    if (!is_cubin(cubin.image)) return bad(fmt::format("holds {}", describe_image(cubin.image)));
    return {std::move(cubin), ""};
  } catch (const nlohmann::json::exception& error) {
    return bad(fmt::format("has facts that do not read: {}", error.what()));
  }
}

}  // namespace tessera
