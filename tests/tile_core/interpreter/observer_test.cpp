#include <fmt/ranges.h>
#include <map>

#include "tests/support/programs.h"
#include "tests/support/same_result.h"

namespace tessera {
namespace {

/// "1.0 wait %0 1/0": role and instance, step, channel, slot and use.
std::string text(const Program& p, const Executed& executed) {
  const std::vector<Role>& roles = roles_of(p);
  std::string result = executed.role == nullptr
                           ? "block"
                           : fmt::format("{}.{}", executed.role - roles.data(), executed.instance);
  if (const auto* pass = std::get_if<PassSlot>(&executed.inst.op))
    result += fmt::format(" {}", name_of(pass->step));
  else if (std::holds_alternative<CopyIn>(executed.inst.op))
    result += fmt::format(" copy {}", executed.starts);
  else if (std::holds_alternative<CopyOut>(executed.inst.op))
    result += fmt::format(" store {}", executed.starts);
  else if (std::holds_alternative<Loop>(executed.inst.op))
    result += fmt::format(" loop {}", executed.starts);
  else if (executed.slots.empty())
    return "";
  for (const SlotUse& use : executed.slots)
    result += fmt::format(" %{} {}/{}", index_of(use.channel), use.slot, use.use);
  return result;
}

std::vector<std::string> seen(const test::Call& call, InterpretOptions options) {
  const Program p = test::program("twice_roles");
  std::vector<std::string> texts;
  options.observer = [&](const Executed& executed) {
    if (executed.block > 0) return;
    if (std::string one = text(p, executed); !one.empty()) texts.push_back(one);
  };
  test::outputs(p, call, options);
  return texts;
}

TEST(Observer, SeesWhatEachRoleDoesWhenItMay) {
  const std::vector<std::string> expected = {"0.0 loop [0]",
                                             "0.0 acquire %0 0/0",
                                             "0.0 copy [0, 0] %0 0/0",
                                             "0.0 commit %0 0/0",
                                             "1.0 loop [0]",
                                             "1.0 wait %0 0/0",
                                             "1.0 %0 0/0",
                                             "1.0 release %0 0/0",
                                             "1.0 acquire %1 0/0",
                                             "1.0 %1 0/0",
                                             "1.0 commit %1 0/0",
                                             "2.0 loop [0]",
                                             "2.0 wait %1 0/0",
                                             "2.0 store [0, 0] %1 0/0",
                                             "2.0 release %1 0/0"};
  EXPECT_EQ(seen({{{"M", 8}, {"K", 16}}}, {}), expected);
}

/// A wait is seen after what it waits for, whoever goes on first.
TEST(Observer, SeesWaitsAfterWhatTheyWaitFor) {
  for (Order order : {Order::first, Order::last, Order::random}) {
    const std::vector<std::string> texts = seen({{{"M", 16}, {"K", 80}}}, {.order = order});
    auto place = [&](const std::string& one) {
      return std::find(texts.begin(), texts.end(), one) - texts.begin();
    };
    for (const char* slot : {"0/0", "1/0", "0/1", "1/1", "0/2"}) {
      EXPECT_LT(place(fmt::format("0.0 commit %0 {}", slot)), place(fmt::format("1.0 wait %0 {}", slot)));
      EXPECT_LT(place(fmt::format("1.0 commit %1 {}", slot)), place(fmt::format("2.0 wait %1 {}", slot)));
    }
    EXPECT_LT(place("1.0 release %0 0/0"), place("0.0 acquire %0 0/1"));
    EXPECT_LT(place("0.0 acquire %0 0/2"), static_cast<std::ptrdiff_t>(texts.size()));
  }
}

/// Both blocks of a cluster pass the same slots, but copy from their own places: rows of their own, and a
/// part of the columns each.
TEST(Observer, SeesTheBlocksOfAClusterApart) {
  const Program p = test::program("gemm_cluster");
  std::map<std::int64_t, std::vector<std::string>> texts;
  const auto observer = [&](const Executed& executed) {
    if (executed.role == nullptr || !executed.role->elected) return;
    if (std::string one = text(p, executed); !one.empty()) texts[executed.block].push_back(one);
  };
  for (Order order : {Order::first, Order::last, Order::random}) {
    texts.clear();
    test::outputs(p, {{{"M", 128}, {"N", 16}, {"K", 16}}}, {.order = order, .observer = observer});
    auto block = [](int rows, int columns) {
      return std::vector<std::string>{"0.0 loop [0]", "0.0 acquire %0 0/0",
                                      fmt::format("0.0 copy [{}, 0] %0 0/0", rows),
                                      fmt::format("0.0 copy [{}, 0] %1 0/0", columns), "0.0 commit %0 0/0"};
    };
    EXPECT_EQ(texts, (decltype(texts){{0, block(0, 0)}, {1, block(64, 8)}}));
  }
}

TEST(Observer, IsNotNeeded) {
  const Program p = test::program("twice_roles");
  const test::Call call{{{"M", 8}, {"K", 40}}};
  EXPECT_EQ(test::outputs(p, call, {}), test::outputs(p, call, {.observer = [](const Executed&) {}}));
}

}  // namespace
}  // namespace tessera
