#pragma once
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tile_core/interpreter/observer.h"
#include "tools/glossary.h"

namespace tessera::tools {

/// The events of each instance in a column of its own. An event stands in the first row after the one before
/// it in its column and after all that it waits for in others.
class Columns {
 public:
  explicit Columns(const Program& program);

  void add(const Executed& executed);
  /// The rows, numbered, below the names of the columns.
  std::string text();

 private:
  using Names = std::vector<std::string>;
  struct Column {
    std::size_t number = 0;
    std::string name;
    std::size_t row = 0;  ///< of its last event
    std::string begins;   ///< iterations of loops, since then
    Names arithmetic;     ///< since then, each operation once
    int operations = 0;
    Names open;              ///< dots that no group holds yet, by axis
    std::deque<Names> dots;  ///< groups in flight, the oldest first
  };
  /// What somebody waits for: the row in which it has happened last, and where it comes from.
  struct Signal {
    std::size_t row = 0;
    Names from;
  };
  enum class Kind { commit, release, turn };
  /// Of a slot: its channel, number and use; of a turn, the number of the instance's column.
  using Key = std::tuple<Kind, ValueId, std::int64_t, std::int64_t>;

  Column& column(const Executed& executed);
  void pass(Column& column, const Executed& executed, SlotStep step);
  void take_turn(Column& column);
  void pass_turn(Column& column, const Executed& executed);
  void follow_dots(Column& column, const Executed& executed);
  void begin(Column& column, const Executed& executed, const Loop& loop);
  void end_arithmetic(Column& column);
  void place(Column& column, const std::string& text, std::size_t after = 0);
  void signal(const Key& key, const Column& column);
  /// Places a wait: `ready` where the signal had come before, else `waits` and who it came from.
  void wait(Column& column, const Key& key, const std::string& ready, const std::string& waits);

  const Program& program_;
  Glossary words_;
  std::map<std::pair<const Role*, int>, Column> columns_;
  std::map<Key, Signal> signals_;
  std::vector<Names> rows_;  // the first holds the names
};

}  // namespace tessera::tools
