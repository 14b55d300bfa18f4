#pragma once
#include <map>
#include <set>
#include <vector>

#include "tile_core/ir/program.h"

namespace tessera::codegen {

/// The groups of issued dots. A dot reads a tile in registers until a wait covers its group, which may stand
/// in the loop's next iteration or after the loop. Points into the program.
class DotGroups {
 public:
  explicit DotGroups(const Program& program);

  /// The dots of the group that follows a fence.
  const std::vector<const IssueDot*>& fenced(const Inst& fence) const { return fenced_.at(&fence); }
  /// The tiles in registers whose last dots a wait covers.
  std::vector<ValueId> retired(const Inst& wait) const;
  /// The tiles that must stand before an instruction with blocks, since they are defined inside and a dot may
  /// read them still when the block has ended.
  std::vector<ValueId> outlive(const Inst& inst) const;

 private:
  using Values = std::set<ValueId>;
  /// One of the blocks around an instruction, from the outermost on, and what of it leads there.
  struct Step {
    const Block* block = nullptr;
    std::size_t number = 0;
    const Inst* inst = nullptr;
    bool operator==(const Step&) const = default;
  };
  using Path = std::vector<Step>;
  /// The tiles that dots in flight read: of the closed groups, the oldest first, and of the open one.
  struct Flight {
    std::vector<Values> groups;
    Values open;
  };

  void find_places(const Block& block, const Path& outside);
  void find_fenced(const Block& block);
  Flight fly(const Block& block, Flight flight);
  Flight fly(const Inst& inst, Flight flight);
  static Flight merged(Flight a, const Flight& b);
  void find_homes();

  std::map<const Inst*, std::vector<const IssueDot*>> fenced_;
  std::map<const Inst*, Values> retired_;
  std::map<const Inst*, Path> places_;
  std::map<ValueId, Path> homes_;  // of the definitions
  std::map<const Inst*, std::vector<ValueId>> outlive_;
};

}  // namespace tessera::codegen
