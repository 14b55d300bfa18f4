#include "ops/operator.h"

#include "tile_core/base/error.h"

namespace tessera::ops {

const std::vector<const Operator*>& all() {
  static const auto* operators =
      new std::vector<const Operator*>{&add(), &linear(), &softmax(), &attention()};
  return *operators;
}

const Operator& find(std::string_view name) {
  std::string known;
  for (const Operator* op : all()) {
    if (op->name == name) return *op;
    known += (known.empty() ? "" : ", ") + std::string(op->name);
  }
  throw UserError::format("no operator is called '{}'; there are {}", name, known);
}

}  // namespace tessera::ops
