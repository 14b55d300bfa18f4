#pragma once
#include <ATen/core/Tensor.h>
#include <filesystem>
#include <map>
#include <string>

namespace tessera::models {

/// Tensors by name, as in Python's state_dict.
using TensorMap = std::map<std::string, at::Tensor>;

/// Reads a .safetensors file into CPU tensors that share one private mapping of it: a write to one does not
/// reach the file. dtypes F64, F32, F16, BF16, I64, I32, I16, I8, U8 and BOOL. Throws UserError for a header
/// that is not JSON, a name that comes twice, an unknown dtype, and data that overlap, leave holes, or do not
/// fit their shape or the file.
TensorMap read_safetensors(const std::filesystem::path& file);

/// Writes tensors of any device and strides; the file appears complete or not at all. Throws UserError for
/// another dtype and for a file that cannot be written.
void write_safetensors(const std::filesystem::path& file, const TensorMap& tensors);

}  // namespace tessera::models
