#include "tests/tile_core/passes/visits.h"

#include <algorithm>

#include "tile_core/interpreter/arithmetic.h"

namespace tessera::test {
namespace {

class Walk {
 public:
  Walk(const Program& program, const Sizes& sizes, std::int64_t block, std::int64_t blocks)
      : p_(program), sizes_(sizes), block_(block), blocks_(blocks), values_(program.types.size()) {}

  std::vector<Visit> visits() {
    for (const Inst& inst : p_.body.insts) {
      const Loop* tiles = std::get_if<Loop>(&inst.op);
      tiles == nullptr ? scalar(inst) : visit(*tiles);
    }
    return std::move(visits_);
  }

 private:
  std::int64_t& at(ValueId id) { return values_.at(index_of(id)); }

  void visit(const Loop& tiles) {
    for (std::int64_t number = at(tiles.begin); number < at(tiles.end); number += at(tiles.step)) {
      at(tiles.start) = number;
      Visit& visit = visits_.emplace_back();
      for (const Inst& inst : tiles.body.insts) {
        if (const Loop* loop = std::get_if<Loop>(&inst.op)) {
          const int step = p_.axis(loop->axis).extent;
          visit.trips += std::max<std::int64_t>(0, at(loop->end) - at(loop->begin) + step - 1) / step;
        } else if (const Store* store = std::get_if<Store>(&inst.op)) {
          visit.tile = position(*store);
        } else {
          scalar(inst);
        }
      }
    }
  }

  /// Axes of one lane have no subscript of their own: the scalar subscripts in order are theirs.
  std::vector<std::int64_t> position(const Store& store) {
    std::vector<std::int64_t> tile;
    for (const Subscript& s : store.subscripts) {
      if (s.axis == AxisId::none) {
        tile.push_back(at(s.value));
      } else if (p_.axis(s.axis).kind == AxisKind::grid) {
        tile.push_back(at(s.value) / p_.axis(s.axis).extent);
      }
    }
    return tile;
  }

  void scalar(const Inst& inst) {
    if (inst.results.size() != 1 || !p_.type(inst.result()).axes.empty()) return;
    std::int64_t& result = at(inst.result());
    match(
        inst.op, [&](const Constant& o) { result = static_cast<std::int64_t>(o.value); },
        [&](const Size& o) { result = sizes_.dims.at(p_.dim(o.dim).name); },
        [&](const End& o) { result = at(o.start) + p_.axis(o.axis).extent; },
        [&](const Scalar& o) {
          auto found = sizes_.scalars.find(p_.scalars.at(index_of(o.scalar)).name);
          result = found == sizes_.scalars.end() ? 0 : found->second;
        },
        [&](const BlockIndex&) { result = block_; }, [&](const BlockCount&) { result = blocks_; },
        [&](const ClusterIndex&) { result = block_ / p_.launch.cluster.blocks; },
        [&](const ClusterCount&) { result = blocks_ / p_.launch.cluster.blocks; },
        [&](const ClusterRank&) { result = block_ % p_.launch.cluster.blocks; },
        [&](const Binary& o) { result = computed(o.fn, at(o.a), at(o.b)); },
        [&](const Cast& o) { result = at(o.a); }, [](const auto&) {});
  }

  static std::int64_t computed(BinaryFn fn, std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(
        interpreter::apply(fn, i64, static_cast<double>(a), static_cast<double>(b)));
  }

  const Program& p_;
  const Sizes& sizes_;
  std::int64_t block_, blocks_;
  std::vector<std::int64_t> values_;
  std::vector<Visit> visits_;
};

}  // namespace

std::vector<std::vector<Visit>> visits(const Program& program, const Sizes& sizes, std::int64_t blocks) {
  std::int64_t tiles = program.launch.cluster.blocks;
  for (AxisId id : program.grid) {
    const int lanes = program.cluster_lanes(id);
    tiles *= (sizes.dims.at(program.dim(program.axis(id).dim).name) + lanes - 1) / lanes;
  }
  blocks = std::min(blocks, tiles);
  std::vector<std::vector<Visit>> all;
  for (std::int64_t block = 0; block < blocks; ++block)
    all.push_back(Walk(program, sizes, block, blocks).visits());
  return all;
}

}  // namespace tessera::test
