#include <ATen/core/dispatch/Dispatcher.h>
#include <sstream>

#include "tests/registration/support.h"

namespace tessera {
namespace {

using c10::DispatchKey;

const std::vector<std::string> kSchemas = {
    "tessera::add(Tensor self, Tensor other) -> Tensor",
    "tessera::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    "tessera::linear_gelu(Tensor input, Tensor weight, Tensor? bias=None, *, str approximate=\"none\") -> "
    "Tensor",
    "tessera::softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    "tessera::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    "tessera::flash_attention(Tensor query, Tensor key, Tensor value, bool is_causal=False, *, int "
    "diagonal=0, "
    "float? scale=None) -> (Tensor output, Tensor logsumexp)",
    "tessera::flash_attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor output, "
    "Tensor logsumexp, "
    "bool is_causal=False, *, int diagonal=0, float? scale=None) -> (Tensor grad_query, Tensor grad_key, "
    "Tensor grad_value)",
    "tessera::_linear_gelu_with_preactivation(Tensor input, Tensor weight, Tensor? bias=None, *, str "
    "approximate=\"none\") -> "
    "(Tensor output, Tensor preactivation)",
};

TEST(Schema, IsTheDocumentedOne) {
  for (const std::string& text : kSchemas) {
    const auto op = c10::Dispatcher::singleton().findSchema({text.substr(0, text.find('(')), ""});
    ASSERT_TRUE(op.has_value()) << text;
    std::ostringstream schema;
    schema << op->schema();
    EXPECT_EQ(schema.str(), text);
    EXPECT_TRUE(op->hasTag(at::Tag::pt2_compliant_tag)) << text;
  }
}

TEST(Schema, EveryOperatorHasEveryKey) {
  std::vector<std::string> found;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (!name.name.starts_with("tessera::")) continue;
    found.push_back(name.name);
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name.name.c_str(), "");
    for (const DispatchKey key : {DispatchKey::CPU, DispatchKey::CUDA, DispatchKey::Meta,
                                  DispatchKey::Autograd, DispatchKey::AutocastCPU, DispatchKey::AutocastCUDA})
      EXPECT_TRUE(op.hasKernelForDispatchKey(key)) << name.name << " " << c10::toString(key);
    const bool takes_part_in_others = name.name.starts_with("tessera::_") || name.name.ends_with("_backward");
    EXPECT_EQ(op.hasKernelForDispatchKey(DispatchKey::FuncTorchBatched), !takes_part_in_others) << name.name;
  }
  EXPECT_EQ(found.size(), kSchemas.size());
}

}  // namespace
}  // namespace tessera
