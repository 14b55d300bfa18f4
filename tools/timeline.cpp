#include "tools/timeline.h"

#include <fmt/ranges.h>

#include "tile_core/interpreter/interpreter.h"
#include "tools/columns.h"

namespace tessera::tools {
namespace {

constexpr const char* kLegend =
    "Rows are logical steps, not clock cycles: an event stands in the first row after all that it has to "
    "wait "
    "for.\n'takes' and 'has': the slot was there already; 'waits': it had to come first, from the roles in "
    "brackets.\n";

}  // namespace

std::string timeline(const Program& program, const Target& target, const Sizes& call,
                     const std::vector<double>& scalars) {
  const Sizes sizes = small_sizes(program, call);
  std::vector<Buffer> tensors = zeros(program, sizes);
  std::vector<TensorView> views;
  for (Buffer& tensor : tensors) views.push_back(tensor.view());
  Columns columns(program);
  interpret(program, views, scalars, {.blocks = 1, .observer = [&](const Executed& executed) {
                                        if (executed.block == 0) columns.add(executed);
                                      }});
  std::vector<std::string> dims;
  for (const auto& [name, size] : sizes) dims.push_back(fmt::format("{}={}", name, size));
  const int blocks = program.launch.cluster.blocks;
  const std::string of_cluster =
      blocks > 1 ? fmt::format(" of a cluster of {}, whose others are not shown", blocks) : "";
  return fmt::format("{} on {}: one block{}, as the interpreter runs it on {}\n{}{}", program.name,
                     target.arch, of_cluster, fmt::join(dims, " "), kLegend, columns.text());
}

}  // namespace tessera::tools
