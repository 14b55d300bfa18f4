#include "registration/arguments/attention.h"

#include <algorithm>
#include <cmath>

#include "registration/arguments/check.h"

namespace tessera {
namespace {

void check_sizes(const AttentionArguments& a) {
  const auto q = a.query.sym_sizes(), k = a.key.sym_sizes(), v = a.value.sym_sizes();
  TORCH_CHECK(q.size() == 4, a.op, "(): expected query of shape [B, H, S_q, D], but got ", q);
  TORCH_CHECK(k.size() == 4 && k[0] == q[0] && k[3] == q[3], a.op, "(): expected key of shape [", q[0],
              ", H_kv, S_k, ", q[3], "] for query ", q, ", but got ", k);
  TORCH_CHECK(v.size() == 4 && v[0] == k[0] && v[1] == k[1] && v[2] == k[2], a.op,
              "(): expected value of shape [", k[0], ", ", k[1], ", ", k[2], ", D_v] for key ", k,
              ", but got ", v);
  if (q[1] == k[1]) return;
  TORCH_CHECK(a.enable_gqa, a.op, "(): expected key to have query's ", q[1],
              " heads, or enable_gqa=True, but got ", k[1], " heads");
  TORCH_CHECK(k[1] > 0 && q[1] % k[1] == 0, a.op,
              "(): expected query's number of heads to be a multiple of key's, but got ", q[1], " and ",
              k[1]);
}

void check_mask(const AttentionArguments& a) {
  const at::Tensor& mask = *a.mask;
  TORCH_CHECK(!a.is_causal, a.op, "(): expected no attn_mask with is_causal=True, but got one of shape ",
              mask.sym_sizes());
  check_device_like(a.op, "attn_mask", mask, "query", a.query);
  const at::ScalarType dtype = mask.scalar_type();
  TORCH_CHECK(dtype == at::kBool || dtype == at::kFloat || dtype == a.query.scalar_type(), a.op,
              "(): expected attn_mask of dtype Bool, Float or query's ", a.query.scalar_type(), ", but got ",
              dtype);
  const std::array<c10::SymInt, 4> scores = {a.query.sym_size(0), a.query.sym_size(1), a.query.sym_size(2),
                                             a.key.sym_size(2)};
  const int64_t rank = mask.dim();
  bool fits = rank <= 4;
  for (int64_t i = 1; fits && i <= rank; ++i)
    fits = mask.sym_size(-i) == 1 || mask.sym_size(-i) == scores[4 - i];
  TORCH_CHECK(fits, a.op, "(): expected attn_mask to be broadcastable to ", c10::SymIntArrayRef(scores),
              ", but got ", mask.sym_sizes());
}

}  // namespace

double AttentionArguments::scale_value() const {
  if (query.size(3) == 0) return 1;  // every product is an empty sum, 0 whatever the scale is
  return scale.has_value() ? *scale : 1 / std::sqrt(static_cast<double>(query.size(3)));
}

void check(const AttentionArguments& a) {
  check_real_float(a.op, "query", a.query);
  check_dtype_like(a.op, "key", a.key, "query", a.query);
  check_dtype_like(a.op, "value", a.value, "query", a.query);
  check_device_like(a.op, "key", a.key, "query", a.query);
  check_device_like(a.op, "value", a.value, "query", a.query);
  check_sizes(a);
  if (a.has_mask()) check_mask(a);
  TORCH_CHECK(a.dropout_p >= 0 && a.dropout_p <= 1, a.op, "(): expected dropout_p to be in [0, 1], but got ",
              a.dropout_p);
}

void check(const AttentionOutputs& a) {
  const std::string_view op = "flash_attention_backward";
  check_defined(op, "grad", a.grad);
  check_defined(op, "output", a.output);
  check_defined(op, "logsumexp", a.logsumexp);
}

std::array<c10::SymInt, 4> output_sizes(const AttentionArguments& a) {
  return {a.query.sym_size(0), a.query.sym_size(1), a.query.sym_size(2), a.value.sym_size(3)};
}

namespace {

c10::SymInt at_least_one(const c10::SymInt& size) {
  return size.max(1);
}
int64_t at_least_one(int64_t size) {
  return std::max<int64_t>(size, 1);
}

/// For query's strides. `Int` is c10::SymInt, or for calls without symbols int64_t, which is faster by far.
template <typename Int>
std::array<Int, 4> dense_strides(const std::array<Int, 4>& sizes, c10::ArrayRef<Int> strides,
                                 const Int& head_dim) {
  std::array<int, 3> order = {0, 1, 2};  // slowest first
  if (head_dim <= 1 || strides[3] == 1) {
    // Insertion sort by stride; an expanded dim (stride 0) says nothing about the order and stays where it
    // is.
    for (int i = 1; i < 3; ++i) {
      for (int at = i, before = i - 1; before >= 0; --before) {
        const Int &slow = strides[order[before]], &fast = strides[order[at]];
        if (slow == 0 || fast == 0) continue;
        if (slow >= fast) break;
        std::swap(order[before], order[at]);
        at = before;
      }
    }
  }
  std::array<Int, 4> output;
  output[3] = 1;
  Int step = at_least_one(sizes[3]);
  for (int i = 2; i >= 0; --i) {
    output[order[i]] = step;
    step = step * at_least_one(sizes[order[i]]);
  }
  return output;
}

}  // namespace

std::array<c10::SymInt, 4> output_strides(const AttentionArguments& a) {
  return dense_strides<c10::SymInt>(output_sizes(a), a.query.sym_strides(), a.query.sym_size(3));
}

bool has_output_strides(const at::Tensor& output, const AttentionArguments& a) {
  const auto is_symbolic = [](const at::Tensor& t) {
    return t.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
  };
  if (is_symbolic(output) || is_symbolic(a.query) || is_symbolic(a.value))
    return output.sym_strides() == c10::SymIntArrayRef(output_strides(a));
  const std::array<int64_t, 4> sizes = {a.query.size(0), a.query.size(1), a.query.size(2), a.value.size(3)};
  return output.strides() ==
         at::IntArrayRef(dense_strides<int64_t>(sizes, a.query.strides(), a.query.size(3)));
}

}  // namespace tessera
