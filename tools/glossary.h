#pragma once
#include <map>
#include <string>
#include <vector>

#include "tile_core/ir/program.h"

namespace tessera::tools {

/// Words for the roles and channels of a program from Stage::device on. Points into the program.
class Glossary {
 public:
  explicit Glossary(const Program& program);

  /// "producer" for a role that waits for no slot, else "consumer"; with its number where several are such.
  const std::string& role(const Role& role) const { return roles_.at(&role); }
  /// "consumer 1", of a role with one instance "producer"; of none "the block".
  std::string instance(const Role* role, int number) const;
  /// The tensor that is copied to or from the channel, "next tile" of what is drawn, else its value, "%5";
  /// both where that is ambiguous.
  const std::string& channel(ValueId id) const { return channels_.at(id); }
  /// The channel that is passed with it: itself, or the one it goes `with`.
  ValueId root(ValueId id) const { return roots_.at(id); }

 private:
  void name_roles(const std::vector<Role>& roles);
  void name_channels(const Program& program);

  std::map<const Role*, std::string> roles_;
  std::map<ValueId, std::string> channels_;
  std::map<ValueId, ValueId> roots_;
};

}  // namespace tessera::tools
