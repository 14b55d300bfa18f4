#include "models/graph_ranks.h"

#include <torch/csrc/jit/ir/constants.h>

namespace tessera {

namespace jit = torch::jit;

void GraphRanks::enter(const jit::Node* fork) {
  const auto inside = fork->g(c10::attr::Subgraph)->inputs();
  for (std::size_t i = 0; i < inside.size(); ++i) outside_[inside[i]] = fork->input(i);
}

std::optional<std::size_t> GraphRanks::of(const jit::Value* value) const {
  if (const auto type = value->type()->cast<c10::TensorType>(); type && type->dim()) return type->dim();
  std::optional<c10::IValue> known = jit::toIValue(value);
  if (!known) known = attribute(value);
  if (!known || !known->isTensor() || !known->toTensor().defined()) return std::nullopt;
  return static_cast<std::size_t>(known->toTensor().dim());
}

/// What a path of attributes from the module leads to: self.encoder.weight.
std::optional<c10::IValue> GraphRanks::attribute(const jit::Value* value) const {
  if (const auto outer = outside_.find(value); outer != outside_.end()) return attribute(outer->second);
  const jit::Node* from = value->node();
  if (from->kind() == c10::prim::GetAttr) {
    const std::optional<c10::IValue> owner = attribute(from->input());
    if (!owner || !owner->isObject()) return std::nullopt;
    return owner->toObjectRef().getAttr(from->s(c10::attr::name));
  }
  const bool is_self =
      from->kind() == c10::prim::Param && value->offset() == 0 && value->type()->isSubtypeOf(*module_.type());
  return is_self ? std::optional<c10::IValue>(module_._ivalue()) : std::nullopt;
}

}  // namespace tessera
