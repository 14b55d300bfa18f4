#pragma once
#include <filesystem>
#include <string>
#include <torch/nn/module.h>
#include <vector>

#include "models/safetensors.h"

namespace tessera::models {

/// What load_state() found to differ between a module and a map of tensors.
struct LoadReport {
  std::vector<std::string> missing;     ///< names of the module that the map lacks
  std::vector<std::string> unexpected;  ///< names of the map that the module lacks
  std::vector<std::string> mismatched;  ///< "name: [shape] in the module, [shape] in the tensors"

  bool complete() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
  std::string text() const;
};

/// Parameters and buffers by name; the tensors are the module's own.
TensorMap state(const torch::nn::Module& module);

/// Copies tensors into the parameters and buffers of the same names, converting dtype and device, as Python's
/// load_state_dict. Throws UserError with the report's text where a shape differs or, if strict, where a name
/// is missing or unexpected; then nothing was copied.
LoadReport load_state(torch::nn::Module& module, const TensorMap& tensors, bool strict = true);

/// load_state() and state() with a .safetensors file.
LoadReport load_file(torch::nn::Module& module, const std::filesystem::path& file, bool strict = true);
void save_file(const torch::nn::Module& module, const std::filesystem::path& file);

}  // namespace tessera::models
