#include "models/load.h"

#include <fmt/ranges.h>
#include <torch/utils.h>

#include "tile_core/base/error.h"

namespace tessera::models {
namespace {

std::string list(const char* title, const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("\n  {}: {}", title, fmt::join(names, ", "));
}

}  // namespace

std::string LoadReport::text() const {
  if (complete()) return "all names and shapes match";
  return "the module and the tensors differ" + list("missing", missing) + list("unexpected", unexpected) +
         list("shapes", mismatched);
}

TensorMap state(const torch::nn::Module& module) {
  TensorMap tensors;
  for (const auto& entry : module.named_parameters()) tensors[entry.key()] = entry.value();
  for (const auto& entry : module.named_buffers()) tensors[entry.key()] = entry.value();
  return tensors;
}

LoadReport load_state(torch::nn::Module& module, const TensorMap& tensors, bool strict) {
  LoadReport report;
  TensorMap own = state(module);
  for (const auto& [name, target] : own) {
    auto source = tensors.find(name);
    if (source == tensors.end()) {
      report.missing.push_back(name);
    } else if (source->second.sizes() != target.sizes()) {
      report.mismatched.push_back(fmt::format("{}: {} in the module, {} in the tensors", name,
                                              c10::str(target.sizes()), c10::str(source->second.sizes())));
    }
  }
  for (const auto& [name, source] : tensors)
    if (!own.contains(name)) report.unexpected.push_back(name);

  if (!report.mismatched.empty() || (strict && !report.complete()))
    throw UserError::format("load_state(): {}", report.text());
  torch::NoGradGuard no_grad;
  for (auto& [name, target] : own)
    if (auto source = tensors.find(name); source != tensors.end()) target.copy_(source->second);
  return report;
}

LoadReport load_file(torch::nn::Module& module, const std::filesystem::path& file, bool strict) {
  return load_state(module, read_safetensors(file), strict);
}

void save_file(const torch::nn::Module& module, const std::filesystem::path& file) {
  write_safetensors(file, state(module));
}

}  // namespace tessera::models
