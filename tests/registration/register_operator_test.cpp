#include "tessera/register_operator.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include "tests/registration/support.h"
#include "tile_core/base/error.h"

namespace tessera {
namespace {

using at::Tensor;
using namespace dsl;

/// out = x * by + shift
Program scale(const std::vector<DType>& dtypes) {
  Builder p("scale");
  Dim M = p.dim("M"), N = p.dim("N");
  In x = p.in("x", dtypes.at(0), {M, N}), shift = p.in("shift", dtypes.at(1), {N});
  Out out = p.out("out", dtypes.at(0), {M, N});
  Tile by = p.scalar("by", f32);
  Axis m = p.grid(M, 4), n = p.grid(N, 32);
  out(m, n) = cast(dtypes[0], x(m, n) * by + shift(n));
  return p.finish();
}

const UserOperator& scaled() {
  static const UserOperator op =
      register_operator("test::scaled(Tensor x, Tensor shift, float by=2.0) -> Tensor", scale);
  return op;
}

std::string user_error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(RegisterOperator, RunsInTheInterpreter) {
  for (const at::ScalarType dtype : testing::kFloats) {
    const Tensor x = at::randn({5, 40}).to(dtype), shift = at::randn({40}).to(dtype);
    EXPECT_NEAR_TENSOR(scaled()(x, shift, 3.0), x.to(at::kDouble) * 3 + shift.to(at::kDouble),
                       testing::tolerance_of(dtype));
    EXPECT_NEAR_TENSOR(scaled()(x.t().contiguous().t(), shift, 3.0), scaled()(x, shift, 3.0F), 0);
  }
}

TEST(RegisterOperator, HasItsSchemasDefaults) {
  const Tensor x = at::randn({5, 40}), shift = at::zeros({40});
  EXPECT_NEAR_TENSOR(scaled()(x, shift), x * 2, 1e-6);
}

TEST(RegisterOperator, TakesWholeNumbersForFloats) {
  const Tensor x = at::randn({5, 40}), shift = at::zeros({40});
  EXPECT_NEAR_TENSOR(scaled()(x, shift, 3), x * 3, 1e-6);
  EXPECT_NEAR_TENSOR(scaled().call({x, shift, int64_t{-2}}).at(0), x * -2, 1e-6);
}

TEST(RegisterOperator, HasAMetaKernel) {
  const auto meta = at::TensorOptions().device(at::kMeta);
  const Tensor y = scaled()(at::empty({5, 40}, meta), at::empty({40}, meta));
  EXPECT_TRUE(y.is_meta());
  EXPECT_EQ(y.sizes(), at::IntArrayRef({5, 40}));
}

TEST(RegisterOperator, ChecksACallAgainstTheProgram) {
  const Tensor x = at::ones({5, 40});
  EXPECT_EQ(testing::error_of([&] { scaled()(x, at::ones({39})); }),
            "test::scaled(): expected shift's dim 0 to be N = 40, but got [39]");
  EXPECT_EQ(testing::error_of([&] {
              scaled()(x, at::ones({1, 40}));
            }),
            "test::scaled(): expected shift of 1 dims, but got [1, 40]");
  EXPECT_EQ(testing::error_of([&] { scaled()(x.to(at::kDouble), at::ones({40})); }),
            "test::scaled(): expected x of dtype Half, BFloat16, Float, Int, Long or Bool, but got Double");
  EXPECT_EQ(testing::error_of([&] { scaled()(x, at::ones({40}, at::kMeta)); }),
            "test::scaled(): expected shift on x's device cpu, but got meta");
  EXPECT_EQ(testing::error_of([&] { scaled()(x, Tensor()); }),
            "test::scaled(): expected shift to be a tensor, but got an undefined one");
  EXPECT_EQ(testing::error_of([&] { scaled()(Tensor(), Tensor()); }),
            "test::scaled(): expected x to be a tensor, but got an undefined one");
}

/// out = x + y, of one dtype
Program sum_of(const std::vector<DType>& dtypes) {
  Builder p("sum");
  Dim N = p.dim("N");
  In x = p.in("x", dtypes.at(0), {N}), y = p.in("y", dtypes.at(0), {N});
  Out out = p.out("out", dtypes.at(0), {N});
  Axis n = p.grid(N, 32);
  out(n) = x(n) + y(n);
  return p.finish();
}

TEST(RegisterOperator, ChecksTheDtypeOfEveryTensor) {
  static const UserOperator op = register_operator("test::sum_of(Tensor x, Tensor y) -> Tensor", sum_of);
  EXPECT_NEAR_TENSOR(op(at::ones({8}), at::ones({8})), at::full({8}, 2), 0);
  EXPECT_EQ(testing::error_of([] { op(at::ones({8}), at::ones({8}, at::kHalf)); }),
            "test::sum_of(): expected y of dtype Float, as its program has it, but got Half");
  EXPECT_EQ(testing::error_of([] { op(at::ones({8}, at::kInt), at::ones({8}, at::kLong)); }),
            "test::sum_of(): expected y of dtype Int, as its program has it, but got Long");
}

/// out[m] = sum_n x[m, n], where one tile covers N
Program row_sums(const std::vector<DType>& dtypes) {
  Builder p("row_sums");
  Dim M = p.dim("M"), N = p.dim("N");
  In x = p.in("x", dtypes.at(0), {M, N});
  Out out = p.out("out", f32, {M});
  Axis m = p.grid(M, 4), n = p.all(N, 64);
  out(m) = reduce_sum(cast(f32, x(m, n)), n);
  return p.finish();
}

/// Not the program, which the caller may not have written.
TEST(RegisterOperator, IsNamedByErrorsOfItsProgramsRun) {
  const UserOperator op = register_operator("test::row_sums_of(Tensor x) -> Tensor", row_sums);
  EXPECT_NEAR_TENSOR(op(at::ones({5, 64})), at::full({5}, 64), 0);
  EXPECT_EQ(
      testing::error_of([&] {
        op(at::ones({5, 65}));
      }),
      "test::row_sums_of(): program row_sums: one tile of 64 covers N, but its size is 65; choose a larger "
      "tile, or loop over the dim");
}

TEST(RegisterOperator, HasNoGradient) {
  const Tensor x = at::ones({5, 40}).requires_grad_();
  EXPECT_EQ(testing::error_of([&] { scaled()(x, at::ones({40})).sum().backward(); }),
            "derivative for test::scaled is not implemented");
}

TEST(RegisterOperator, SaysWhatSchemasMayHave) {
  scaled();
  EXPECT_EQ(user_error_of([] { register_operator("test::scaled(Tensor x) -> Tensor", scale); }),
            "register_operator: test::scaled is registered already");
  EXPECT_EQ(
      user_error_of([] { register_operator("scaled(Tensor x) -> Tensor", scale); }),
      "register_operator: the schema 'scaled(Tensor x) -> Tensor' has no namespace: write mine::scaled");
  EXPECT_EQ(user_error_of([] { register_operator("test::s(Tensor x, str how) -> Tensor", scale); }),
            "register_operator: test::s: argument 'how' is str; tile programs take Tensor, float, int and "
            "bool, and change no "
            "argument");
  EXPECT_EQ(user_error_of([] { register_operator("test::s(Tensor x) -> int", scale); }),
            "register_operator: test::s: returns int; tile programs return new tensors");
  EXPECT_TRUE(user_error_of([] {
                register_operator("test::s(Tensor", scale);
              }).starts_with("register_operator: the schema 'test::s(Tensor' does not parse: "));
}

TEST(RegisterOperator, HasNoOverloads) {
  EXPECT_EQ(user_error_of([] { register_operator("test::s.out(Tensor x) -> Tensor", scale); }),
            "register_operator: the schema 'test::s.out(Tensor x) -> Tensor' names the overload 'out'; an "
            "operator has one, without a name: write test::s(...), and another operator for other arguments");
}

/// out = x + by where by is a whole number
Program shifted(const std::vector<DType>& dtypes) {
  Builder p("shifted");
  Dim N = p.dim("N");
  In x = p.in("x", dtypes.at(0), {N});
  Out out = p.out("out", dtypes.at(0), {N});
  Tile by = p.scalar("by", i64);
  Axis n = p.grid(N, 32);
  out(n) = x(n) + by;
  return p.finish();
}

TEST(RegisterOperator, WholeNumbersStayWhole) {
  const UserOperator op = register_operator("test::shifted(Tensor x, int by) -> Tensor", shifted);
  const Tensor x = at::zeros({3}, at::kLong);
  constexpr int64_t kLargest = int64_t{1} << 53;
  EXPECT_EQ(op(x, kLargest - 1)[0].item<int64_t>(), kLargest - 1);
  EXPECT_EQ(op(x, 1 - kLargest)[0].item<int64_t>(), 1 - kLargest);
  EXPECT_EQ(
      testing::error_of([&] { op(x, kLargest + 1); }),
      "test::shifted(): the interpreter, which runs programs on the CPU, holds whole numbers up to 2^53, "
      "but got 9007199254740993");
}

TEST(RegisterOperator, AFloatIsNotCutToAWholeNumber) {
  const UserOperator op = register_operator("test::cut(Tensor x, float by) -> Tensor", shifted);
  EXPECT_EQ(
      testing::error_of([&] { op(at::zeros({3}, at::kLong), 2.5); }),
      "test::cut: the schema's 'by' is float, but the program's scalar 'by' is i64, which would cut it: "
      "declare int there, or f32 here");
}

TEST(RegisterOperator, SaysWhereProgramAndSchemaDiffer) {
  const UserOperator op =
      register_operator("test::no_shift(Tensor x, float by) -> Tensor", [](const auto& dtypes) {
        return scale({dtypes[0], dtypes[0]});
      });
  EXPECT_EQ(testing::error_of([&] {
              op(at::ones({2, 3}), 1.0);
            }),
            "test::no_shift: the schema has 1 tensor arguments, but the program 'scale' has 2");
}

TEST(RegisterOperator, ChecksTheFieldsOfTheSchedule) {
  const auto error = [](const Schedule& schedule) {
    return user_error_of(
        [&] { register_operator("test::s(Tensor x, Tensor shift, float by) -> Tensor", scale, {schedule}); });
  };
  const std::string text = "register_operator: test::s: its schedule is not legal: ";
  EXPECT_EQ(error({.warps = 3}), text + "warps is 3, and must be a power of two up to 32 or automatic");
  EXPECT_EQ(error({.stages = -1}), text + "stages is -1, and must be 1 to 8 or automatic");
  EXPECT_EQ(error({.vector = 7}), text + "vector is 7 bytes, and must be 1, 2, 4, 8, 16 or automatic");
  EXPECT_EQ(error({.blocks = 1000000}), text + "blocks is 1000000, and must be 1 to 16 or automatic");
}

TEST(RegisterOperator, NeedsAProgramAndATensor) {
  EXPECT_EQ(user_error_of([] { register_operator("test::s(Tensor x) -> Tensor", {}); }),
            "register_operator: test::s: the std::function of its program is empty");
  EXPECT_EQ(
      user_error_of([] { register_operator("test::s(float by) -> Tensor", scale); }),
      "register_operator: test::s: has no Tensor argument; a program's sizes, dtypes and device are its "
      "inputs'");
}

TEST(RegisterOperator, NamesTheOperatorWhoseProgramThrows) {
  const UserOperator op = register_operator("test::throws(Tensor x) -> Tensor", [](const auto&) -> Program {
    throw std::runtime_error("no such luck");
  });
  EXPECT_EQ(testing::error_of([&] { op(at::ones({3})); }),
            "test::throws: its program threw: no such luck (for dtypes f32)");
  const UserOperator number = register_operator("test::number(Tensor x, Tensor y) -> Tensor",
                                                [](const auto&) -> Program { throw 1; });
  EXPECT_EQ(testing::error_of([&] { number(at::ones({3}), at::ones({3}, at::kLong)); }),
            "test::number: its program threw: an exception of no known type (for dtypes f32, i64)");
}

/// out[k] without an input that has k
Program unbound(const std::vector<DType>& dtypes) {
  Builder p("unbound");
  Dim M = p.dim("M"), K = p.dim("K");
  In x = p.in("x", dtypes.at(0), {M});
  Out out = p.out("out", dtypes.at(0), {M, K});
  Axis m = p.grid(M, 4), k = p.grid(K, 4);
  out(m, k) = x(m) + p.zeros(f32, {m, k});
  return p.finish();
}

TEST(RegisterOperator, OutputsHaveDimsOfInputs) {
  const UserOperator op = register_operator("test::unbound(Tensor x) -> Tensor", unbound);
  EXPECT_EQ(testing::error_of([&] { op(at::ones({3})); }),
            "test::unbound(): expected output 'out' to have dims of inputs only, but got dim 'K'");
}

/// out[n] += the sums of x[m, n] over blocks of rows
Program column_sums(const std::vector<DType>& dtypes) {
  Builder p("column_sums");
  Dim M = p.dim("M"), N = p.dim("N");
  In x = p.in("x", dtypes.at(0), {M, N});
  Out out = p.out("out", f32, {N});
  Axis m = p.grid(M, 4), n = p.grid(N, 32);
  out(n) += reduce_sum(cast(f32, x(m, n)), m);
  return p.finish();
}

TEST(RegisterOperator, OutputsThatAreAddedToStartAsZero) {
  const UserOperator op = register_operator("test::column_sums(Tensor x) -> Tensor", column_sums);
  for (const at::ScalarType dtype : testing::kFloats) {
    const Tensor x = at::randn({37, 40}).to(dtype);
    EXPECT_NEAR_TENSOR(op(x), x.to(at::kDouble).sum(0), 1e-5);
  }
  EXPECT_NEAR_TENSOR(op(at::ones({0, 40})), at::zeros({40}), 0);
}

/// In the interpreter tiles are added in one order.
TEST(RegisterOperator, SumsAreDeterministicOnACpu) {
  const UserOperator op = register_operator("test::deterministic_sums(Tensor x) -> Tensor", column_sums);
  const Tensor x = at::randn({37, 40}), once = op(x);
  at::globalContext().setDeterministicAlgorithms(true, false);
  const std::string error = testing::error_of([&] { EXPECT_TRUE(op(x).equal(once)); });
  at::globalContext().setDeterministicAlgorithms(false, false);
  EXPECT_EQ(error, "no error");
}

}  // namespace
}  // namespace tessera
