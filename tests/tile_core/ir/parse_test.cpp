#include "tile_core/ir/parse.h"

#include "tests/support/programs.h"
#include "tile_core/base/error.h"
#include "tile_core/ir/print.h"
#include "tile_core/ir/rewrite.h"

namespace tessera {
namespace {

using test::program;
using test::program_text;

class HandMade : public ::testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Programs, HandMade, ::testing::ValuesIn(test::kPrograms),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(HandMade, TextParsesAndPrintsTheSame) {
  Program p = program(GetParam());
  EXPECT_EQ(to_text(p), program_text(GetParam()));
  EXPECT_EQ(parse(to_text(p)), p);
  EXPECT_EQ(renumbered(p), p);
}

TEST(Parse, InstructionsKnowTheirLine) {
  Program p = program("softmax_tile");
  EXPECT_STREQ(p.body.insts[0].loc.file, "hand-made");
  EXPECT_EQ(p.body.insts[0].loc.line, 9);
}

TEST(Parse, ReadsEveryLiteral) {
  for (double value : {0.0, -0.0, 1.5, -3.0, 1e20, 1e-7, 0.1, 123456789012.0, HUGE_VAL, -HUGE_VAL}) {
    Program p;
    p.name = "literal";
    p.body.insts.push_back({{p.new_value({})}, Constant{value}, {}});
    double read = std::get<Constant>(parse(to_text(p)).body.insts[0].op).value;
    EXPECT_EQ(read, value);
    EXPECT_EQ(std::signbit(read), std::signbit(value));
  }
}

TEST(Parse, ReadsEveryFunction) {
  std::string text = "program functions stage tile {\n  %0: f32 = constant 1\n  %1: boolean = lt %0, %0\n";
  int next = 2;
  for (int fn = 0; fn < static_cast<int>(UnaryFn::logical_not); ++fn) {
    text += fmt::format("  %{}: f32 = {} %0\n", next++, name_of(static_cast<UnaryFn>(fn)));
  }
  for (int fn = 0; fn <= static_cast<int>(BinaryFn::logical_or); ++fn) {
    text += fmt::format("  %{}: f32 = {} %0, %0\n", next++, name_of(static_cast<BinaryFn>(fn)));
  }
  text += fmt::format("  %{}: boolean = logical_not %1\n}}\n", next);
  EXPECT_EQ(to_text(parse(text)), text);
}

TEST(Parse, ReadsNamesAndCommentsButKeepsNeither) {
  Program p = parse(
      "// what it is\nprogram p stage tile {\n  %one: f32 = constant 1  // not 2\n\n  %2nd: f32 = neg "
      "%one\n}\n//");
  EXPECT_EQ(to_text(p), "program p stage tile {\n  %0: f32 = constant 1\n  %1: f32 = neg %0\n}\n");
  EXPECT_EQ(p.body.insts[1].loc.line, 5);
}

TEST(Parse, ReadsThePrecisionOfADot) {
  const std::string text = to_text(program("gemm_tile"));
  for (Precision precision : {Precision::tf32, Precision::tf32x3}) {
    std::string other = text;
    other.replace(other.find("dot<k>"), 6, fmt::format("dot<k, {}>", name_of(precision)));
    EXPECT_EQ(to_text(parse(other)), other);
    EXPECT_NE(parse(other), parse(text));
  }
}

TEST(Parse, TellsADotsConditionFromABranch) {
  std::string text = to_text(test::changed("gemm_roles", "onto %47 if %48", "onto %47\n if %48 {\n }"));
  EXPECT_NE(text.find("onto %47\n          if %48 {\n          }\n          commit_dots"), std::string::npos);
}

struct Mistake {
  const char* text;
  const char* error;
};
void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.text;
}

class ParseError : public ::testing::TestWithParam<Mistake> {};

TEST_P(ParseError, SaysWhereAndWhatWasExpected) {
  try {
    parse(GetParam().text);
    FAIL() << "parsed";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), GetParam().error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, ParseError,
    ::testing::Values(
        Mistake{"programm x",
                "tile error: expected 'program', but got 'programm'\n  --> program text:1\n   column 1 of: "
                "programm x"},
        Mistake{"program p stage late {",
                "tile error: expected a stage (tile, mapped, masked, placed, laid_out, roled, device, "
                "synced, ready), but got 'late'\n"
                "  --> program text:1\n   column 17 of: program p stage late {"},
        Mistake{"program p stage tile {\n  dim M\n  axis m:4 grid N\n}",
                "tile error: expected a dim (M), but got 'N'\n  --> program text:3\n   column 17 of:   axis "
                "m:4 grid N"},
        Mistake{"program p stage tile {\n  in a: f64()\n}",
                "tile error: expected a dtype, one of boolean, i32, i64, f16, bf16, f32, but got 'f64'\n  "
                "--> program text:2\n"
                "   column 9 of:   in a: f64()"},
        Mistake{
            "program p stage tile {\n  dim K\n  axis k:4 loop K\n  %0: f32[k:4] = constant 1\n  %1: f32 = "
            "dot<k, "
            "tf33> %0, %0\n}",
            "tile error: expected a precision (ieee, tf32, tf32x3), but got 'tf33'\n  --> program text:5\n   "
            "column 20 of:   %1: f32 = dot<k, tf33> %0, %0"},
        Mistake{"program p stage tile {\n  %0: f32 = konstant 1\n}",
                "tile error: expected an operation, but got 'konstant'\n  --> program text:2\n   column 13 "
                "of:   %0: f32 = konstant 1"},
        Mistake{"program p stage tile {\n  %0: f32 = neg %1\n}",
                "tile error: %1 is used before it is defined\n  --> program text:2\n   column 17 of:   %0: "
                "f32 = neg %1"},
        Mistake{"program p stage tile {\n  %0: f32 = neg %sum\n}",
                "tile error: %sum is used before it is defined\n  --> program text:2\n   column 17 of:   %0: "
                "f32 = neg %sum"},
        Mistake{"program p stage tile {\n  % : f32 = constant 1\n}",
                "tile error: expected an operation, but got '%'\n  --> program text:2\n   column 3 of:   % : "
                "f32 = constant 1"},
        Mistake{
            "program p stage tile {\n  %0: f32 = constant 1\n  %0: f32 = constant 1\n}",
            "tile error: %0 is defined twice\n  --> program text:3\n   column 3 of:   %0: f32 = constant 1"},
        Mistake{"program p stage tile {\n  dim M\n  axis m:4 grid M\n  grid m\n  %0: i64[m:8] = index m\n}",
                "tile error: axis 'm' has extent 4, but the type says 8\n  --> program text:5\n   column 13 "
                "of:   %0: i64[m:8] = index m"},
        Mistake{"program p stage roled warps 4 {\n  roles {\n    warps 4 {\n    }\n  }\n}",
                "tile error: expected 'role', but got 'warps'\n  --> program text:3\n   column 5 of:     "
                "warps 4 {"},
        Mistake{"program p stage roled warps 4 {\n  dim M\n  axis m:4 grid M\n  grid m\n  %0: f32[m:4] x 2 = "
                "channel order (m) pitch 4\n  acquire %0[0, m at 1]\n}",
                "tile error: expected '/', but got 'at'\n  --> program text:6\n   column 19 of:   acquire "
                "%0[0, m at 1]"},
        Mistake{"program p stage device warps 4 {\n  %0: f32, %1: f32 wait_dots 0\n}",
                "tile error: expected '=', but got 'wait_dots'\n  --> program text:2\n   column 20 of:   %0: "
                "f32, %1: "
                "f32 wait_dots 0"},
        Mistake{"program p stage tile {\n  %0: f32 registers<reg *:4x99999999999> = constant 1\n}",
                "tile error: expected a stride, as x8, but got 'x99999999999'\n  --> program text:2\n   "
                "column 28 of:   %0: f32 registers<reg *:4x99999999999> = constant 1"},
        Mistake{"program p stage tile {\n  %0: f32 registers<reg *:4x> = constant 1\n}",
                "tile error: expected a stride, as x8, but got 'x'\n  --> program text:2\n   column 28 of:   "
                "%0: f32 registers<reg *:4x> = constant 1"},
        Mistake{"program p stage tile {\n  %0: f32 = constant 1\n",
                "tile error: expected an operation, but got the end of the text\n  --> program text:3\n   "
                "column 1 of: "}));

}  // namespace
}  // namespace tessera
