#include <fmt/format.h>

#include "ops/operator.h"
#include "tests/support/cases.h"
#include "tile_core/base/error.h"

namespace tessera::test {
namespace {

Program program_of(const ops::Operator& op, const std::vector<DType>& dtypes, Flags flags,
                   const Tiles& tiles) {
  Facts facts{.tensors = {}, .flags = std::move(flags)};
  for (DType dtype : dtypes) facts.tensors.push_back({.dtype = dtype});
  return op.program(facts, tiles);
}

double tolerance_of(DType dtype) {
  return dtype == f32 ? 0x1p-20 : dtype == f16 ? 0x1p-9 : 0x1p-7;
}

Case add_case(int rank, DType self, DType other, DType out) {
  Program p = program_of(ops::add(), {self, other, out}, {{"rank", rank}}, {{"d", 64}});
  Call ragged;
  Call empty;
  Call unaligned;
  for (int i = 0; i < rank; ++i) {
    ragged.dims["D" + std::to_string(i)] = i + 1 == rank ? 88 : 2 + i;
    unaligned.dims["D" + std::to_string(i)] = 3 + i;
    empty.dims["D" + std::to_string(i)] = i == 0 ? 0 : 3;
  }
  return {fmt::format("add_{}d_{}_{}_{}", rank, name_of(self), name_of(other), name_of(out)),
          std::move(p),
          {ragged, unaligned, empty}};
}

Case linear_case(DType dtype, int bias, int gelu, int preactivation, bool tf32 = false) {
  std::vector<DType> dtypes(static_cast<std::size_t>(3 + bias + preactivation), dtype);
  Flags flags{{"bias", bias}, {"gelu", gelu}, {"preactivation", preactivation}};
  if (tf32) flags["tf32"] = 1;
  Program p = program_of(ops::linear(), dtypes, flags, {{"m", 16}, {"n", 32}, {"k", 16}});
  return {fmt::format("linear_{}{}{}{}{}", name_of(dtype), tf32 ? "_tf32" : "", bias != 0 ? "_bias" : "",
                      gelu == 0   ? ""
                      : gelu == 1 ? "_gelu"
                                  : "_gelu_tanh",
                      preactivation != 0 ? "_preactivation" : ""),
          std::move(p),
          {{{{"M", 21}, {"N", 40}, {"K", 56}}},
           {{{"M", 21}, {"N", 45}, {"K", 51}}},
           {{{"M", 32}, {"N", 32}, {"K", 64}}},
           {{{"M", 1}, {"N", 1}, {"K", 0}}},
           {{{"M", 0}, {"N", 5}, {"K", 3}}}},
          tolerance_of(dtype)};
}

Case softmax_case(DType in, DType out, bool inner, bool resident, int outer) {
  Tiles tiles{
      {"row", inner ? 1 : 2}, {"n", resident ? 128 : 32}, {"resident", resident ? 1 : 0}, {"inner", 8}};
  Program p = program_of(ops::softmax(), {in, out}, {{"outer", outer}, {"inner", inner ? 1 : 0}}, tiles);
  std::vector<Call> calls;
  for (std::int64_t n : {88, 93, 128, 1}) {
    Call call{{{"N", n}}};
    for (int i = 0; i < outer; ++i) call.dims["O" + std::to_string(i)] = 2 + i;
    if (inner) call.dims["I"] = n == 88 ? 24 : 11;
    calls.push_back(std::move(call));
  }
  return {fmt::format("softmax_{}_{}_{}_{}d{}", name_of(in), name_of(out),
                      resident ? "resident" : "streaming", outer + 1, inner ? "_inner" : ""),
          std::move(p), std::move(calls), tolerance_of(out)};
}

enum Mask { kNone, kBoolean, kAdded };

Call attention_call(std::int64_t I, std::int64_t J, double diagonal, std::int64_t group) {
  bool aligned = J % 8 == 0;
  return {{{"B", 2},
           {"H", 2},
           {"G", 2 / group},
           {"I", I},
           {"J", J},
           {"D", aligned ? 8 : 13},
           {"E", aligned ? 8 : 9}},
          {{"scale", 0.3}, {"diagonal", diagonal}, {"group", static_cast<double>(group)}}};
}

Case attention_case(DType dtype, bool causal, Mask mask, bool is_signed = false) {
  std::vector<DType> dtypes(3, dtype);
  if (mask != kNone) dtypes.push_back(mask == kBoolean ? boolean : dtype);
  dtypes.insert(dtypes.end(), {dtype, f32});
  Flags flags{{"causal", causal ? 1 : 0}, {"mask", mask}};
  if (is_signed) flags["signed"] = 1;
  Program p = program_of(ops::attention(), dtypes, flags, {{"i", 16}, {"j", 16}, {"d", 16}, {"e", 16}});
  std::vector<Call> calls = {attention_call(21, 40, 0, 1), attention_call(21, 37, 0, 1),
                             attention_call(1, 1, 0, 2), attention_call(3, 0, 0, 1)};
  if (causal) {
    for (double diagonal : {5.0, -3.0, 16.0, -40.0, 60.0})
      calls.push_back(attention_call(21, 37, diagonal, 2));
  }
  return {
      fmt::format("attention_{}{}{}{}", name_of(dtype), causal ? "_causal" : "", is_signed ? "_signed" : "",
                  mask == kNone      ? ""
                  : mask == kBoolean ? "_mask"
                                     : "_bias"),
      std::move(p), std::move(calls), tolerance_of(dtype)};
}

}  // namespace

std::vector<Case> operator_cases() {
  std::vector<Case> cases = {add_case(1, f32, f32, f32), add_case(3, bf16, f32, f32),
                             add_case(2, i64, i32, i64), add_case(2, f16, f16, f16)};
  for (int gelu : {0, 1, 2}) {
    for (int bias : {0, 1}) {
      for (int preactivation : {0, 1}) cases.push_back(linear_case(bf16, bias, gelu, preactivation));
    }
  }
  for (DType dtype : {f16, f32}) cases.push_back(linear_case(dtype, 1, 1, 0));
  cases.push_back(linear_case(f32, 1, 1, 0, true));
  for (bool inner : {false, true}) {
    for (bool resident : {false, true}) {
      cases.push_back(softmax_case(f32, f32, inner, resident, 1));
      cases.push_back(softmax_case(bf16, f32, inner, resident, 2));
    }
  }
  for (bool causal : {false, true}) {
    for (Mask mask : {kNone, kBoolean, kAdded}) cases.push_back(attention_case(f16, causal, mask));
  }
  for (DType dtype : {bf16, f32}) cases.push_back(attention_case(dtype, true, kNone));
  cases.push_back(attention_case(f32, true, kNone, true));
  return cases;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = operator_cases();
  for (Case& c : foreign_cases()) cases.push_back(std::move(c));
  return cases;
}

Case named_case(const std::string& name) {
  for (std::vector<Case> cases : {all_cases(), role_cases()}) {
    for (Case& c : cases) {
      if (c.name == name) return std::move(c);
    }
  }
  throw InternalError::format("no test case is called '{}'", name);
}

}  // namespace tessera::test
