#include "tile_core/dsl/builder.h"

#include <algorithm>
#include <cctype>
#include <exception>

#include "tile_core/base/error.h"
#include "tile_core/dsl/names.h"
#include "tile_core/dsl/typing.h"
#include "tile_core/ir/print.h"

namespace tessera::dsl {
namespace {

template <typename Table>
void check_unused(const Table& table, const std::string& name, const char* what, Loc loc) {
  bool used = std::any_of(table.begin(), table.end(), [&](const auto& entry) { return entry.name == name; });
  if (used)
    throw UserError(
        diagnostic(fmt::format("two {}s are named '{}'", what, name), loc, "", "give each its own name"));
}

}  // namespace

Tile Axis::index(Loc loc) const {
  return {tracer_, tracer_->emit(tessera::Index{id_}, {.dtype = i64, .axes = {id_}}, loc)};
}
Tile Axis::start(Loc loc) const {
  return {tracer_, tracer_->emit(Start{id_}, {.dtype = i64}, loc)};
}
Tile Axis::end(Loc loc) const {
  return {tracer_, tracer_->emit(End{id_}, {.dtype = i64}, loc)};
}

LoopRange::LoopRange(Axis axis, ValueId begin, ValueId end, bool pipelined, Loc loc)
    : axis_(axis), begin_(begin), end_(end), pipelined_(pipelined), loc_(loc) {}

Axis LoopRange::open() {
  axis_.tracer().open_loop(axis_.id(), begin_, end_, pipelined_, loc_);
  opened_ = true;
  return axis_;
}

LoopRange::Iterator LoopRange::begin() {
  if (opened_) {
    throw UserError(
        diagnostic("a loop range is looped over twice", loc_, "",
                   "write for (Axis k : p.pipelined(K, 32)) once more: each loop has its own axis"));
  }
  return Iterator(this);
}

LoopRange::Iterator& LoopRange::Iterator::operator++() {
  range_->axis_.tracer().close_loop();
  range_->closed_ = true;
  return *this;
}

LoopRange::~LoopRange() {
  if (closed_ || std::uncaught_exceptions() > 0) return;
  axis_.tracer().fail_later(
      diagnostic(opened_ ? "a loop is left before its body ends" : "a loop range is not looped over", loc_,
                 "", "the body is traced once: no break, no return; select with where()"));
}

Dim Builder::dim(std::string name, Loc loc) {
  check_name(name, "dim", loc);
  check_unused(tracer_.program.dims, name, "dim", loc);
  tracer_.declare(DimInfo{std::move(name)}, loc);
  return {&tracer_, static_cast<DimId>(tracer_.program.dims.size() - 1)};
}

TensorId Builder::declare(std::string name, DType dtype, const std::vector<Dim>& dims, bool output, Loc loc) {
  check_name(name, "tensor", loc);
  check_unused(tracer_.program.tensors, name, "tensor", loc);
  TensorDecl decl{.name = std::move(name), .dtype = dtype, .dims = {}, .output = output};
  for (const Dim& dim : dims) {
    check_same_program(tracer_, dim.tracer(), loc);
    decl.dims.push_back(dim.id());
  }
  tracer_.declare(std::move(decl), loc);
  return static_cast<TensorId>(tracer_.program.tensors.size() - 1);
}

In Builder::in(std::string name, DType dtype, const std::vector<Dim>& dims, Loc loc) {
  return {&tracer_, declare(std::move(name), dtype, dims, false, loc)};
}

Out Builder::out(std::string name, DType dtype, const std::vector<Dim>& dims, Loc loc) {
  return {&tracer_, declare(std::move(name), dtype, dims, true, loc)};
}

In Builder::in(std::string name, DType dtype, std::initializer_list<Dim> dims, Loc loc) {
  return in(std::move(name), dtype, std::vector<Dim>(dims), loc);
}

Out Builder::out(std::string name, DType dtype, std::initializer_list<Dim> dims, Loc loc) {
  return out(std::move(name), dtype, std::vector<Dim>(dims), loc);
}

Tile Builder::scalar(std::string name, DType dtype, Loc loc) {
  check_name(name, "scalar", loc);
  check_unused(tracer_.program.scalars, name, "scalar", loc);
  if (dtype != f32 && dtype != i64) {
    throw UserError(diagnostic(fmt::format("scalar '{}' is {}", name, name_of(dtype)), loc, "",
                               "a number of the call is f32 or i64"));
  }
  tracer_.program.scalars.push_back({std::move(name), dtype});
  auto id = static_cast<ScalarId>(tracer_.program.scalars.size() - 1);
  return {&tracer_, tracer_.emit(Scalar{id}, {.dtype = dtype}, loc)};
}

std::string Builder::fresh_axis_name(const Dim& dim) const {
  std::string base = tracer_.program.dim(dim.id()).name;
  std::transform(base.begin(), base.end(), base.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string name = base;
  auto taken = [&](const AxisInfo& axis) { return axis.name == name; };
  for (int i = 2; std::any_of(tracer_.program.axes.begin(), tracer_.program.axes.end(), taken); ++i)
    name = base + std::to_string(i);
  return name;
}

Axis Builder::axis(const Dim& dim, AxisKind kind, int tile, Loc loc) {
  check_same_program(tracer_, dim.tracer(), loc);
  if (tile < 1 || tile > kMaxTile) {
    throw UserError(diagnostic(fmt::format("a tile of {} along {}", tile, tracer_.program.dim(dim.id()).name),
                               loc, "", fmt::format("1 to {} lanes", kMaxTile)));
  }
  return {&tracer_, tracer_.program.new_axis({fresh_axis_name(dim), kind, dim.id(), tile})};
}

Axis Builder::grid(const Dim& dim, int tile, Loc loc) {
  Axis result = axis(dim, AxisKind::grid, tile, loc);
  tracer_.program.grid.push_back(result.id());
  return result;
}

Tile Builder::grid(const Dim& dim, Loc loc) {
  return grid(dim, 1, loc).start(loc);
}
Axis Builder::all(const Dim& dim, int tile, Loc loc) {
  return axis(dim, AxisKind::all, tile, loc);
}

ValueId Builder::bound(const Operand& operand, const char* which) {
  if (!operand.is_number()) check_same_program(tracer_, *operand.tracer(), operand.loc());
  ValueId id = operand.in(tracer_, i64);
  const Type& type = tracer_.program.type(id);
  if (type.axes.empty() && (type.dtype == i64 || type.dtype == i32)) return id;
  throw UserError(diagnostic(fmt::format("the {} of a loop is no integer scalar", which), operand.loc(),
                             fmt::format("{}: {}", which, to_text(tracer_.program, type)),
                             "write a Dim, a number, or a scalar such as i.start() + 1"));
}

LoopRange Builder::loop(const Dim& dim, int tile, const Operand& begin, const Operand& end, bool pipelined) {
  Axis result = axis(dim, AxisKind::loop, tile, end.loc());
  ValueId first = bound(begin, "begin");
  return {result, first, bound(end, "end"), pipelined, end.loc()};
}

LoopRange Builder::pipelined(const Dim& dim, int tile, Loc loc) {
  return loop(dim, tile, {0, loc}, {dim, loc}, true);
}

LoopRange Builder::pipelined(const Dim& dim, int tile, const Operand& begin, const Operand& end) {
  return loop(dim, tile, begin, end, true);
}

LoopRange Builder::sequential(const Dim& dim, int tile, Loc loc) {
  return loop(dim, tile, {0, loc}, {dim, loc}, false);
}

LoopRange Builder::sequential(const Dim& dim, int tile, const Operand& begin, const Operand& end) {
  return loop(dim, tile, begin, end, false);
}

Tile Builder::full(DType dtype, const std::vector<Axis>& axes, const Number& value, Loc loc) {
  Type type{.dtype = dtype};
  for (const Axis& axis : axes) {
    check_same_program(tracer_, axis.tracer(), loc);
    type.axes.push_back(axis.id());
  }
  return {&tracer_, tracer_.constant(value.value(), std::move(type), loc)};
}

Tile Builder::zeros(DType dtype, const std::vector<Axis>& axes, Loc loc) {
  return full(dtype, axes, 0, loc);
}

}  // namespace tessera::dsl
