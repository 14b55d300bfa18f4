#include "tools/demo/block.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include "models/load.h"
#include "models/transformer_block.h"
#include "tessera/policy.h"
#include "tools/demo/errors.h"
#include "tools/demo/kernels.h"
#include "tools/demo/report.h"

namespace tessera::demo {
namespace {

using models::Backend;
using models::TransformerBlock;
using models::TransformerBlockOptions;

constexpr std::pair<const char*, at::ScalarType> kDTypes[] = {{"fp32", at::kFloat}, {"bf16", at::kBFloat16}};

/// A block and the shape of its input.
struct Size {
  std::int64_t batch, length, width, heads, kv_heads, feed_forward;
};
constexpr Size kOnGpu = {8, 1024, 1024, 16, 4, 4096};
constexpr Size kCompiled = {2,  512, 768,
                            12, 4,   3072};  // where there is no GPU: its kernels are compiled only
constexpr Size kInterpreted = {1, 100, 128, 4, 2, 256};

/// Pre-norm, causal, grouped heads; the same weights for the same size.
TransformerBlock make_block(const Size& size, Backend backend) {
  at::manual_seed(0);
  TransformerBlock block(TransformerBlockOptions(size.width, size.heads)
                             .num_kv_heads(size.kv_heads)
                             .dim_feedforward(size.feed_forward)
                             .norm_first(true)
                             .causal(true)
                             .backend(backend));
  block->eval();
  return block;
}

/// The block in one dtype on both sides, and its float64 reference from the rounded weights and input.
struct Model {
  Model(const Size& size, at::ScalarType dtype, at::Device device)
      : native(make_block(size, Backend::native)),
        tessera(make_block(size, Backend::tessera)),
        reference(make_block(size, Backend::native)),
        input(at::randn({size.batch, size.length, size.width}).to(device, dtype)) {
    native->to(device, dtype);
    tessera->to(device, dtype);
    reference->to(device, at::kDouble);
    models::load_state(*reference, models::state(*native));
  }

  TransformerBlock native, tessera, reference;
  at::Tensor input;
};

/// The errors of both sides under policy tile; false where ours is too large.
bool show_errors(const char* dtype, Model& m) {
  const at::Tensor expected = m.reference->forward(m.input.to(at::kDouble));
  const at::Tensor native = m.native->forward(m.input);
  set_policy(Policy::tile);
  const at::Tensor tessera = m.tessera->forward(m.input);
  set_policy({});
  return print_errors(fmt::format("{} error against float64", dtype),
                      {m.input.scalar_type(), native, tessera, expected});
}

std::vector<RecordedCall> calls_of(Model& m) {
  return record_calls([&] { m.tessera->forward(m.input); });
}

std::string describe(const Size& s) {
  return fmt::format("input [{}, {}, {}], {} heads, {} of keys, feed-forward {}", s.batch, s.length, s.width,
                     s.heads, s.kv_heads, s.feed_forward);
}

bool run_in_interpreter() {
  fmt::print("  in the interpreter: {}\n", describe(kInterpreted));
  bool good = true;
  for (const auto& [name, dtype] : kDTypes) {
    Model m(kInterpreted, dtype, at::kCPU);
    good = show_errors(name, m) && good;
  }
  return good;
}

void compile_kernels() {
  fmt::print("  kernels of: {}\n", describe(kCompiled));
  for (const auto& [name, dtype] : kDTypes) {
    Model m(kCompiled, dtype, at::kCPU);
    print_kernels(calls_of(m), {"sm_80", "sm_90a", "sm_100a"});
  }
}

bool show_on_gpu() {
  bool good = true;
  for (const auto& [name, dtype] : kDTypes) {
    Model m(kOnGpu, dtype, at::kCUDA);
    good = show_errors(name, m) && good;
    good =
        print_gpu({[&] { return m.native->forward(m.input); }, [&] { return m.tessera->forward(m.input); }},
                  calls_of(m)) &&
        good;
  }
  return good;
}

}  // namespace

bool show_block(bool gpu) {
  const at::NoGradGuard no_grad;
  fmt::print("Transformer block, pre-norm, causal\n");
  if (gpu) {
    fmt::print("  {}\n", describe(kOnGpu));
    return show_on_gpu();
  }
  const bool good = run_in_interpreter();
  compile_kernels();
  return good;
}

}  // namespace tessera::demo
