#include "tile_core/ir/operands.h"

#include "tests/support/programs.h"

namespace tessera {
namespace {

using Ids = std::vector<int>;

Ids operands_of(const Op& op) {
  Ids ids;
  for_each_operand(op, [&](ValueId id) { ids.push_back(static_cast<int>(id)); });
  return ids;
}

constexpr ValueId v(int number) {
  return static_cast<ValueId>(number);
}
Slot slot(int channel, int ticket) {
  return {.channel = v(channel), .ticket = v(ticket)};
}

constexpr AxisId kAxis{0}, kOther{1};

TEST(Operands, AreVisitedInOrder) {
  Slot part = slot(1, 2);
  part.part = {kAxis, kOther, v(3)};
  EXPECT_EQ(operands_of(PassSlot{SlotStep::wait, part}), (Ids{1, 2, 3}));
  EXPECT_EQ(operands_of(View{part}), (Ids{1, 2, 3}));
  EXPECT_EQ(operands_of(CopyOut{part, TensorId{0}, {{kAxis, v(4)}, {AxisId::none, v(5)}}}),
            (Ids{1, 2, 3, 4, 5}));
  EXPECT_EQ(operands_of(CopyIn{{TensorId{0}, {{kAxis, v(4)}}}, slot(1, 2), CopyKind::bulk, 1}),
            (Ids{4, 1, 2}));
  EXPECT_EQ(operands_of(Channel{.with = v(7)}), (Ids{7}));
  EXPECT_EQ(operands_of(WaitDots{1, {v(4), v(5)}}), (Ids{4, 5}));
  EXPECT_EQ(operands_of(If{.condition = v(6)}), (Ids{6}));
  EXPECT_EQ(operands_of(End{kAxis, v(6)}), (Ids{6}));
  EXPECT_EQ(operands_of(End{kAxis}), Ids());
  EXPECT_EQ(operands_of(Slice{v(6), kAxis, kOther, 1}), (Ids{6}));
  Loop loop{.begin = v(1), .end = v(2), .step = v(3), .first_ticket = v(4), .carried = {v(5)}};
  EXPECT_EQ(operands_of(loop), (Ids{1, 2, 3, 4, 5}));
}

TEST(Operands, OfAnIssuedDotAreSlotsOrRegisters) {
  IssueDot dot{.b = slot(3, 4), .axis = kAxis};
  dot.a.slot = slot(1, 2);
  EXPECT_EQ(operands_of(dot), (Ids{1, 2, 3, 4}));
  dot.a.value = v(9);
  dot.accumulator = v(5);
  dot.accumulate = v(6);
  EXPECT_EQ(operands_of(dot), (Ids{9, 3, 4, 5, 6}));
}

TEST(Definitions, OfRolesAreTheirInstances) {
  Program p = test::program("gemm_roles");
  Ids ids;
  for_each_definition(p.body.insts.back(), [&](ValueId id) { ids.push_back(static_cast<int>(id)); });
  EXPECT_EQ(ids, Ids{34});
}

TEST(Definitions, AreAllValuesOfAProgram) {
  for (std::string_view name : test::kPrograms) {
    Program p = test::program(name);
    std::vector<int> times(p.types.size(), 0);
    for_each_inst(p.body, [&](const Inst& inst) {
      for_each_definition(inst, [&](ValueId id) { ++times[index_of(id)]; });
    });
    EXPECT_EQ(times, std::vector<int>(p.types.size(), 1)) << name;
  }
}

TEST(Blocks, OfABranchAreBoth) {
  Op op = If{.condition = v(0),
             .then = {.insts = {}, .yields = {v(1)}},
             .otherwise = {.insts = {}, .yields = {v(2)}}};
  std::vector<ValueId> yields;
  for_each_block(op, [&](Block& block) { yields.push_back(block.yields.front()); });
  EXPECT_EQ(yields, (std::vector{v(1), v(2)}));
}

}  // namespace
}  // namespace tessera
