#pragma once
#include <string>
#include <vector>

#include "tests/support/same_result.h"

namespace tessera::test {

/// A program with one thing taken out.
struct Change {
  std::string what;
  Program program;
};

/// Takes every wait, barrier and fence of a program out in turn, and lets every wait cover one group less.
/// Dots that give values keep their waits, which only cover less.
std::vector<Change> without_waits(const Program& program);
/// The same of commits, of slots and turns that are passed on.
std::vector<Change> without_commits(const Program& program);
/// Takes every select that compares an axis' index with the size of its dim out in turn, and either side of
/// comparisons with both ends.
std::vector<Change> without_masks(const Program& program);

/// Runs what is left on all calls. Returns the changes that no run noticed, neither by an error nor by
/// another result: what was taken out is redundant, or the machine or the calls have holes.
std::vector<std::string> unnoticed(const std::vector<Change>& changes, const Program& program,
                                   const std::vector<Call>& calls);

}  // namespace tessera::test
