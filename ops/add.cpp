#include "ops/operator.h"
#include "ops/shapes.h"
#include "tile_core/dsl/math.h"

/// out[...] = self[...] + other[...], broadcast through strides of 0.
/// https://pytorch.org/docs/2.11/generated/torch.add.html
namespace tessera::ops {
namespace {

using namespace dsl;

/// Dims D0 .. of which the last is tiled; every index of the others has its own blocks.
Program program(const Facts& facts, const Tiles& tiles) {
  Builder p("add");
  std::vector<Dim> dims;
  for (int i = 0; i < facts.flags.at("rank"); ++i) dims.push_back(p.dim("D" + std::to_string(i)));
  In self = p.in("self", facts.tensors.at(0).dtype, dims);
  In other = p.in("other", facts.tensors.at(1).dtype, dims);
  Out out = p.out("out", facts.tensors.at(2).dtype, dims);

  std::vector<Position> at;
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) at.emplace_back(p.grid(dims[i]));
  at.emplace_back(p.grid(dims.back(), tiles.at("d")));
  const DType dtype = facts.tensors[2].dtype;  // operands are rounded to it first, as ATen does
  out.at(at) = cast(dtype, cast(dtype, self.at(at)) + cast(dtype, other.at(at)));
  return p.finish();
}

std::vector<Variant> space(const Problem& problem, const Target&) {
  std::int64_t last = size(problem, "D" + std::to_string(problem.facts.flags.at("rank") - 1));
  std::vector<Variant> variants;
  for (int d : {4096, 2048, 1024, 256}) {
    if (d == 256 || last >= d) variants.push_back({{{"d", d}}, {.warps = d >= 1024 ? 4 : 1}});
  }
  return variants;
}

double flops(const Problem& problem) {
  double elements = 1;
  for (const auto& [name, size] : problem.dims) elements *= static_cast<double>(size);
  return elements;
}

}  // namespace

const Operator& add() {
  static const Operator kOperator{"add", program, space, flops};
  return kOperator;
}

}  // namespace tessera::ops
