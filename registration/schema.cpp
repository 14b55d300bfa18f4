#include <torch/library.h>
#include <vector>

#include "registration/registrar.h"

// Every operator. Arguments, their order and their defaults are those of the ATen operator of the same name,
// so that a swap is textual. All are functional; the pt2 tag states that torch.compile and torch.export may
// take them as they are.
// A fragment, since a second TORCH_LIBRARY of a namespace ends the process.
TORCH_LIBRARY_FRAGMENT(tessera, m) {
  if (!tessera::may_register()) return;
  tessera::schemas_are_ours();
  const std::vector<at::Tag> tags = {at::Tag::pt2_compliant_tag};

  m.def("add(Tensor self, Tensor other) -> Tensor", tags);
  m.def("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", tags);
  m.def("linear_gelu(Tensor input, Tensor weight, Tensor? bias=None, *, str approximate=\"none\") -> Tensor",
        tags);
  m.def("softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", tags);
  m.def(
      "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
      "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
      {at::Tag::pt2_compliant_tag, at::Tag::nondeterministic_seeded});
  m.def(
      "flash_attention(Tensor query, Tensor key, Tensor value, bool is_causal=False, *, int diagonal=0, "
      "float? scale=None) -> (Tensor output, Tensor logsumexp)",
      tags);

  m.def(
      "flash_attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor output, Tensor "
      "logsumexp, "
      "bool is_causal=False, *, int diagonal=0, float? scale=None) -> (Tensor grad_query, Tensor grad_key, "
      "Tensor grad_value)",
      tags);

  // What training runs in place of linear_gelu: the backward needs the product before the activation. Not
  // differentiable.
  m.def(
      "_linear_gelu_with_preactivation(Tensor input, Tensor weight, Tensor? bias=None, *, str "
      "approximate=\"none\") "
      "-> (Tensor output, Tensor preactivation)",
      tags);
}
