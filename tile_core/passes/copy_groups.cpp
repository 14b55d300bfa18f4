#include "tile_core/passes/copy_groups.h"

#include <algorithm>
#include <set>

namespace tessera {
namespace {

/// Commits go by their number in the order of the text, which waits do not change.
class UnneededCommits {
 public:
  explicit UnneededCommits(const Program& synced) {
    int next = 0;
    visit(synced.body, next);
  }

  void remove(Block& block, int& next) const {
    std::vector<Inst> kept;
    for (Inst& inst : block.insts) {
      if (Loop* loop = std::get_if<Loop>(&inst.op)) remove(loop->body, next);
      bool unneeded = std::holds_alternative<CommitCopies>(inst.op) && numbers_.contains(next++);
      if (!unneeded) kept.push_back(std::move(inst));
    }
    block.insts = std::move(kept);
  }

 private:
  using Channels = std::set<ValueId>;

  static bool disjoint(const Channels& a, const Channels& b) {
    return std::none_of(a.begin(), a.end(), [&](ValueId channel) { return b.contains(channel); });
  }

  void visit(const Block& block, int& next) {
    constexpr int kNone = -1;
    int last = kNone;
    Channels committed;  // by the last commit
    Channels open;       // copied to since
    for (const Inst& inst : block.insts) {
      if (const Loop* loop = std::get_if<Loop>(&inst.op)) visit(loop->body, next);
      if (std::holds_alternative<Loop>(inst.op) || std::holds_alternative<WaitCopies>(inst.op)) last = kNone;
      if (const CopyIn* copy = std::get_if<CopyIn>(&inst.op)) open.insert(copy->to.channel);
      if (!std::holds_alternative<CommitCopies>(inst.op)) continue;
      if (last != kNone && disjoint(committed, open)) {
        numbers_.insert(last);
      } else {
        committed.clear();
      }
      committed.merge(open);
      open.clear();
      last = next++;
    }
  }

  std::set<int> numbers_;
};

}  // namespace

Program join_copy_groups(const Program& program, const Program& synced) {
  Program out = program;
  int next = 0;
  UnneededCommits(synced).remove(out.body, next);
  return out;
}

}  // namespace tessera
