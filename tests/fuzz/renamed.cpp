#include "tests/fuzz/renamed.h"

#include <fmt/format.h>

namespace tessera::fuzz {

Renaming::Renaming(Program program) : program_(std::move(program)) {
  rename(program_.name);
  for (DimInfo& dim : program_.dims) rename(dim.name);
  for (AxisInfo& axis : program_.axes) rename(axis.name);
  for (TensorDecl& tensor : program_.tensors) rename(tensor.name);
  for (ScalarDecl& scalar : program_.scalars) rename(scalar.name);
}

void Renaming::rename(std::string& name) {
  constexpr std::size_t kLast = 999;
  std::string other = fmt::format("zz{}zz", kLast - names_.size());
  names_.emplace_back(other, std::exchange(name, other));
}

std::string Renaming::undone(std::string text) const {
  for (const auto& [other, name] : names_) {
    for (std::size_t place = text.find(other); place != std::string::npos;
         place = text.find(other, place + name.size()))
      text.replace(place, other.size(), name);
  }
  return text;
}

}  // namespace tessera::fuzz
