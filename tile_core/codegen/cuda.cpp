#include "tile_core/codegen/cuda.h"

#include <algorithm>
#include <fmt/ranges.h>

#include "tile_core/base/error.h"
#include "tile_core/codegen/emitter.h"
#include "tile_core/ir/operands.h"

namespace tessera {
namespace {

/// By which a program's dots go: "mma_tf32".
std::string path_name(const Program& program) {
  if (holds<IssueDot>(program.body)) return "wgmma";
  if (!uses_mma(program)) return "plain";
  Precision precision = Precision::ieee;
  for_each_inst(program.body, [&](const Inst& inst) {
    const DotShared* dot = std::get_if<DotShared>(&inst.op);
    if (dot != nullptr) precision = std::max(precision, dot->precision);
  });
  return precision == Precision::ieee ? "mma" : fmt::format("mma_{}", name_of(precision));
}

/// "tessera_linear_gelu_m128_n128_k32_plain": operator, tiles, path.
std::string kernel_name(const Program& program) {
  std::string name = "tessera_" + program.name;
  for (const AxisInfo& axis : program.axes) {
    bool tile = axis.kind != AxisKind::warps && axis.kind != AxisKind::part;
    if (tile && axis.extent > 1) name += fmt::format("_{}{}", axis.name, axis.extent);
  }
  return name + "_" + path_name(program);
}

/// Builds the parameter struct's text and the launch's recipe side by side. Authors may choose names that
/// mean something in C++, so that a name never stands alone.
struct ParameterList {
  std::string text;
  std::vector<Parameter> recipe;

  void add(const std::string& declaration, Parameter parameter) {
    text += fmt::format("  {};\n", declaration);
    recipe.push_back(parameter);
  }
};

/// The first tensor and dim that has the size of `dim`.
Parameter size_of_dim(const Program& program, DimId dim) {
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    const auto& dims = program.tensors[t].dims;
    auto it = std::find(dims.begin(), dims.end(), dim);
    if (it != dims.end())
      return {Parameter::Kind::size, static_cast<int>(t), static_cast<int>(it - dims.begin())};
  }
  throw UserError::format(
      "tile error: no tensor of '{}' has the dim '{}'\n   help: declare a tensor over it, or pass its size "
      "as a scalar",
      program.name, program.dim(dim).name);
}

ParameterList parameters(const Program& program) {
  ParameterList list;
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    const TensorDecl& tensor = program.tensors[t];
    std::string type = codegen::c_type(tensor.dtype);
    list.add(fmt::format("{}{}* data_{}", tensor.output ? "" : "const ", type, tensor.name),
             {Parameter::Kind::pointer, static_cast<int>(t)});
    for (std::size_t d = 0; d < tensor.dims.size(); ++d) {
      list.add(fmt::format("int64 stride_{}_{}", tensor.name, d),
               {Parameter::Kind::stride, static_cast<int>(t), static_cast<int>(d)});
    }
  }
  for (std::size_t d = 0; d < program.dims.size(); ++d) {
    list.add(fmt::format("int64 size_{}", program.dims[d].name), size_of_dim(program, static_cast<DimId>(d)));
  }
  for (std::size_t s = 0; s < program.scalars.size(); ++s) {
    const ScalarDecl& scalar = program.scalars[s];
    bool real = scalar.dtype == f32;
    list.add(fmt::format("{} scalar_{}", real ? "alignas(8) float" : "int64", scalar.name),
             {real ? Parameter::Kind::scalar_f32 : Parameter::Kind::scalar_i64, static_cast<int>(s)});
  }
  if (program.launch.counter) list.add("int64 counter", {Parameter::Kind::counter});
  return list;
}

std::vector<GridAxis> grid(const Program& program) {
  std::vector<GridAxis> axes;
  for (AxisId id : program.grid) {
    Parameter size = size_of_dim(program, program.axis(id).dim);
    axes.push_back({size.tensor, size.dim, program.cluster_lanes(id)});
  }
  return axes;
}

std::vector<CoveredDim> covered(const Program& program) {
  std::vector<CoveredDim> dims;
  for (const AxisInfo& axis : program.axes) {
    if (axis.kind != AxisKind::all) continue;
    Parameter size = size_of_dim(program, axis.dim);
    dims.push_back({size.tensor, size.dim, axis.extent, program.dim(axis.dim).name});
  }
  return dims;
}

std::vector<int> zeroed(const Program& program) {
  std::vector<int> tensors;
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    if (accumulates_into(program, static_cast<TensorId>(i))) tensors.push_back(static_cast<int>(i));
  }
  return tensors;
}

std::string kernel_head(const KernelText& kernel) {
  const std::string head = fmt::format("{}, {}, {}", kernel.name, kernel.threads, kernel.blocks);
  return kernel.cluster == 1 ? fmt::format("TESSERA_KERNEL({})", head)
                             : fmt::format("TESSERA_CLUSTER_KERNEL({}, {})", head, kernel.cluster);
}

}  // namespace

KernelText empty_kernel() {
  return {.name = "nothing", .text = "extern \"C\" __global__ void nothing() {}"};
}

KernelText emit_cuda(const Program& program, const Facts& facts, const Schedule& schedule, Prelude prelude) {
  if (program.stage != Stage::ready) {
    throw InternalError::format("codegen: '{}' is at Stage::{}, not ready", program.name,
                                name_of(program.stage));
  }
  ParameterList list = parameters(program);
  int blocks = schedule.blocks == Schedule::kAutomatic ? 1 : schedule.blocks;
  codegen::Emitter emitter(program, facts, schedule);
  std::string body = emitter.body();
  KernelText kernel{.name = kernel_name(program),
                    .threads = program.launch.warps * 32,
                    .shared_bytes = program.launch.shared_bytes,
                    .parameters = std::move(list.recipe),
                    .grid = grid(program),
                    .covered = covered(program),
                    .maps = emitter.maps(),
                    .zeroed = zeroed(program),
                    .persistent = program.launch.persistent,
                    .counter = program.launch.counter,
                    .blocks = blocks,
                    .cluster = program.launch.cluster.blocks};
  std::string maps;
  for (std::size_t i = 0; i < kernel.maps.size(); ++i) maps += fmt::format("  TensorMap map_{};\n", i);
  std::string declarations = emitter.declarations();
  if (kernel.counter) declarations += fmt::format("TESSERA_COUNTERS(counters, {});\n", kCounters);
  kernel.text = fmt::format("{}\nstruct Parameters {{\n{}{}}};\n{}\n{} {{\n{}}}\n", prelude_text(prelude),
                            maps, list.text, declarations, kernel_head(kernel), body);
  return kernel;
}

}  // namespace tessera
