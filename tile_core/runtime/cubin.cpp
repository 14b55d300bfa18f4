#include "tile_core/runtime/cubin.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tessera {
namespace {

// The number before `words` in `line`: 24 of "0 bytes stack frame, 24 bytes spill stores". 0 where there is
// none.
int number_before(std::string_view line, std::string_view words) {
  const std::size_t end = line.find(words);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::vector<std::string> Cubin::complaints() const {
  std::vector<std::string> found;
  if (spill_bytes > 0) found.push_back(fmt::format("{} bytes of registers spill to memory", spill_bytes));
  if (stack_bytes > 0) found.push_back(fmt::format("{} bytes of stack per thread", stack_bytes));
  for_each_line(log, [&](std::string_view line) {
    if (line.find("(C75") != std::string_view::npos) found.emplace_back(line);
  });
  return found;
}

void read_ptxas_log(Cubin& cubin) {
  cubin.registers = cubin.stack_bytes = cubin.spill_bytes = 0;
  for_each_line(cubin.log, [&](std::string_view line) {
    cubin.registers = std::max(cubin.registers, number_before(line, " registers"));
    cubin.stack_bytes = std::max(cubin.stack_bytes, number_before(line, " bytes stack frame"));
    cubin.spill_bytes +=
        number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
  });
}

bool is_cubin(std::string_view image) {
  return image.starts_with(
      "\x7f"
      "ELF");
}

std::string describe_image(std::string_view image) {
  if (is_cubin(image)) return "a cubin";
  constexpr std::string_view kVersion = ".version ";
  const std::size_t begin = image.find(kVersion);
  if (begin == std::string_view::npos) return "not a kernel image";
  const std::string_view rest = image.substr(begin + kVersion.size());
  return fmt::format("PTX {}", rest.substr(0, rest.find_first_of(" \t\r\n")));
}

}  // namespace tessera
