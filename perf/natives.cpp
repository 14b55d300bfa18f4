#include "perf/natives.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "perf/inputs.h"
#include "perf/reference.h"

namespace tessera::perf {
namespace {

using Tensors = std::vector<at::Tensor>;

/// Lets at::scaled_dot_product_attention choose one backend only, while it lives.
class OnlyBackend {
 public:
  explicit OnlyBackend(at::SDPBackend backend) {
    at::Context& context = at::globalContext();
    context.setSDPUseFlash(backend == at::SDPBackend::flash_attention);
    context.setSDPUseMemEfficient(backend == at::SDPBackend::efficient_attention);
    context.setSDPUseCuDNN(backend == at::SDPBackend::cudnn_attention);
    context.setSDPUseMath(backend == at::SDPBackend::math);
  }
  ~OnlyBackend() {
    at::Context& context = at::globalContext();
    context.setSDPUseFlash(flash_);
    context.setSDPUseMemEfficient(efficient_);
    context.setSDPUseCuDNN(cudnn_);
    context.setSDPUseMath(math_);
  }
  OnlyBackend(const OnlyBackend&) = delete;
  OnlyBackend& operator=(const OnlyBackend&) = delete;

 private:
  bool flash_ = at::globalContext().userEnabledFlashSDP();
  bool efficient_ = at::globalContext().userEnabledMemEfficientSDP();
  bool cudnn_ = at::globalContext().userEnabledCuDNNSDP();
  bool math_ = at::globalContext().userEnabledMathSDP();
};

/// torch says why a backend refuses in warnings; the refusal itself is what counts here.
class NoWarnings : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

at::Tensor attention(const CallSpec& spec, const Tensors& x) {
  return at::scaled_dot_product_attention(x[0], x[1], x[2], optional_input(x, 3), 0, spec.causal, {},
                                          x[0].size(1) != x[1].size(1));
}

std::vector<Native> attention_candidates(const CallSpec& spec, const Tensors& x) {
  std::vector<Native> all = {{"scaled_dot_product_attention", [=] { return attention(spec, x); }}};
  if (x[0].is_cpu()) return all;
  constexpr std::pair<const char*, at::SDPBackend> kBackends[] = {
      {"cuDNN attention", at::SDPBackend::cudnn_attention},
      {"flash attention", at::SDPBackend::flash_attention},
      {"efficient attention", at::SDPBackend::efficient_attention},
      {"math attention", at::SDPBackend::math}};
  for (const auto& [name, backend] : kBackends) {
    all.push_back({name, [=, backend = backend] {
                     const OnlyBackend only(backend);
                     return attention(spec, x);
                   }});
  }
  return all;
}

at::Tensor linear(const Tensors& x) {
  return at::linear(x[0], x[1], optional_input(x, 2));
}

std::vector<Native> linear_candidates(const CallSpec& spec, const Tensors& x) {
  const bool biased = x.size() > 2;
  if (spec.op == "linear_gelu") {
    std::vector<Native> all = {{"linear + gelu", [=] { return at::gelu(linear(x), spec.approximate); }}};
    // cuBLASLt's epilogue is the tanh form: no candidate for the exact one, nor where the product is needed.
    if (!spec.training && biased && spec.approximate == "tanh" && x[0].is_cuda()) {
      all.push_back({"cuBLASLt gelu epilogue",
                     [=] { return at::_addmm_activation(x[2], x[0], x[1].t(), 1, 1, /*use_gelu=*/true); }});
    }
    return all;
  }
  std::vector<Native> all = {{"linear", [=] { return linear(x); }}};
  if (biased) {
    all.push_back({"addmm", [=] { return at::addmm(x[2], x[0], x[1].t()); }});
    all.push_back({"mm + add", [=] { return at::mm(x[0], x[1].t()).add_(x[2]); }});
  } else {
    all.push_back({"mm", [=] { return at::mm(x[0], x[1].t()); }});
  }
  return all;
}

std::vector<Native> candidates(const CallSpec& spec, const Tensors& x) {
  if (spec.op == "add") return {{"add", [=] { return at::add(x[0], x[1]); }}};
  if (spec.op == "softmax") return {{"softmax", [=] { return at::softmax(x[0], spec.dim); }}};
  return spec.is_attention() ? attention_candidates(spec, x) : linear_candidates(spec, x);
}

}  // namespace

std::vector<Native> natives(const CallSpec& spec, const Tensors& inputs, std::vector<std::string>& left_out) {
  NoWarnings handler;
  const c10::WarningUtils::WarningHandlerGuard guard(&handler);
  std::vector<Native> all = candidates(spec, inputs), usable = {all.front()};
  for (std::size_t i = 1; i < all.size(); ++i) {
    try {
      all[i].run();
      usable.push_back(all[i]);
    } catch (const std::exception& error) {
      const std::string what = error.what();
      left_out.push_back(all[i].name + ": " + what.substr(0, what.find('\n')));
    }
  }
  return usable;
}

std::vector<Native> worth_measuring(std::vector<Native> all, Timer& timer,
                                    std::vector<std::string>& left_out) {
  std::vector<Arm> arms;
  for (const Native& native : all) arms.emplace_back(native.run);
  const Glance seen = timer.glance(arms);
  const std::set<std::size_t> worthwhile(seen.worthwhile.begin(), seen.worthwhile.end());
  std::vector<Native> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (worthwhile.contains(i)) {
      kept.push_back(std::move(all[i]));
    } else {
      const double best = *std::min_element(seen.microseconds.begin(), seen.microseconds.end());
      left_out.push_back(
          fmt::format("{}: {:.1f} times the best one's time", all[i].name, seen.microseconds[i] / best));
    }
  }
  return kept;
}

at::Tensor run_native(const CallSpec& spec, const Tensors& inputs) {
  return candidates(spec, inputs).front().run();
}

std::vector<at::Tensor> native_outputs(const CallSpec& spec, const Tensors& inputs) {
  Tensors outputs = {run_native(spec, inputs)};
  if (spec.is_attention()) outputs.push_back(logsumexp(spec, inputs, at::kFloat));
  if (spec.training) outputs.push_back(linear(inputs));
  return outputs;
}

}  // namespace tessera::perf
