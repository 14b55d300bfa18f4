#include "registration/calls/precision.h"

#include "registration/calls/calls.h"
#include "registration/dispatch/call_key.h"
#include "registration/dispatch/planner.h"
#include "registration/dispatch/shaped_call.h"
#include "tessera/explain.h"
#include "tessera/version.h"
#include "tests/registration/support.h"

/// torch's float32-matmul-precision, as calls see it.
namespace tessera {
namespace {

using testing::WithPolicy;

constexpr auto kBackend = at::Float32Backend::CUDA;
constexpr auto kMatmul = at::Float32Op::MATMUL;

/// Torch's setting as it is after the test.
class MatmulPrecision : public ::testing::Test {
 protected:
  void SetUp() override { allow(false); }
  void TearDown() override { allow(false); }
  static void allow(bool tf32) { at::globalContext().setAllowTF32CuBLAS(tf32); }
};

const std::vector<std::vector<int64_t>> kShapes = {{64, 96}, {64, 96}};

Call linear(at::ScalarType dtype = at::kFloat, const std::vector<std::vector<int64_t>>& shapes = kShapes) {
  return dispatch::call_of({"linear", shapes, {.dtype = dtype}});
}
bool in_tf32(const Call& call) {
  return call.problem().facts.flags.contains("tf32");
}

TEST_F(MatmulPrecision, IsReadByEachCall) {
  EXPECT_FALSE(in_tf32(linear()));
  allow(true);
  EXPECT_TRUE(in_tf32(linear()));
  {
    const at::NoTF32Guard guard;
    EXPECT_FALSE(in_tf32(linear()));
  }
  allow(false);
  EXPECT_FALSE(in_tf32(linear()));
  at::globalContext().setFloat32Precision(kBackend, kMatmul,
                                          at::Float32Precision::TF32);  // the newer setting
  EXPECT_TRUE(in_tf32(linear()));
}

TEST_F(MatmulPrecision, IsOfF32AndNotOfACpu) {
  allow(true);
  for (at::ScalarType dtype : {at::kHalf, at::kBFloat16}) EXPECT_FALSE(in_tf32(linear(dtype)));
  EXPECT_FALSE(allows_tf32(at::empty({4, 4})));
  EXPECT_TRUE(allows_tf32(at::empty({4, 4}, at::kMeta)));
}

TEST_F(MatmulPrecision, IsNotOfShortSides) {
  allow(true);
  for (const std::vector<std::vector<int64_t>>& shapes :
       {std::vector<std::vector<int64_t>>{{63, 96}, {64, 96}}, {{64, 96}, {63, 96}}, {{64, 63}, {64, 63}}})
    EXPECT_FALSE(in_tf32(linear(at::kFloat, shapes)));
}

/// Their products keep f32's digits in ATen's own kernel, whatever the setting is.
TEST_F(MatmulPrecision, IsNotOfAttention) {
  allow(true);
  const std::vector<std::vector<int64_t>> shapes(3, {1, 2, 16, 32});
  for (const char* op : {"scaled_dot_product_attention", "flash_attention"})
    EXPECT_FALSE(in_tf32(dispatch::call_of({op, shapes, {.dtype = at::kFloat}}))) << op;
}

TEST_F(MatmulPrecision, KeepsDecisionsApart) {
  const auto words = [] {
    const Call call = linear();
    const dispatch::CallKey key(call, Policy::tile, 0);
    return std::vector<std::int64_t>(key.words().begin(), key.words().end());
  };
  const std::vector<std::int64_t> before = words();
  allow(true);
  EXPECT_NE(words(), before);
  allow(false);
  EXPECT_EQ(words(), before);
}

TEST_F(MatmulPrecision, IsExplained) {
  const WithPolicy tile(Policy::tile);
  const auto explained = [] { return explain("linear", kShapes, {.dtype = at::kFloat}, "H200"); };
  const Explanation by_fma = explained();
  EXPECT_EQ(by_fma.call.find("tf32"), std::string::npos) << by_fma.call;
  allow(true);
  EXPECT_NE(explained().call.find("preactivation=0 tf32=1 on"), std::string::npos) << explained().call;
  EXPECT_NE(explained().plan, by_fma.plan);
}

/// A record of either is of no use to the other.
TEST_F(MatmulPrecision, KeepsRecordsApart) {
  const autotune::Device device = autotune::device_named("H200");
  const auto plan = [&] {
    const Call call = linear();
    return dispatch::plan_of(call.op(), call.problem(), device, Policy::automatic);
  };
  for (const bool tf32 : {true, false}) {
    allow(!tf32);
    const autotune::Source other = plan().source;
    allow(tf32);
    const Call call = linear();
    autotune::Record record{.key = dispatch::key_of(call.op(), call.problem(), device),
                            .library = std::string(version()),
                            .versions = dispatch::versions_here(),
                            .native_microseconds = 3,
                            .native_name = "linear"};
    for (const ops::Variant& v : call.op().space(call.problem(), device.target))
      record.variants.push_back({{v.tiles, v.schedule}, 2, 0, ""});
    dispatch::use_record(record);
    EXPECT_EQ(plan().source, autotune::Source::user_records);
    EXPECT_TRUE(plan().tile.has_value());
    allow(!tf32);
    EXPECT_EQ(plan().source, other);
  }
}

}  // namespace
}  // namespace tessera
