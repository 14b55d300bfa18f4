#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>

#include "registration/calls/calls.h"
#include "registration/dispatch/dispatch.h"
#include "registration/kernels.h"
#include "registration/native/native.h"

// CUDA and CPU. A call goes to ATen, or runs the operator's tile program: as a kernel on the GPU, in the
// interpreter on the CPU. Nothing is allocated but the outputs.
namespace tessera {
namespace {

using at::Tensor;
using dispatch::Memo;
using TwoTensors = std::tuple<Tensor, Tensor>;

void bind_outputs(Call& call, const Tensor& output) {
  call.bind(call.first_output(), output.data_ptr());
}

void bind_outputs(Call& call, const TwoTensors& outputs) {
  call.bind(call.first_output(), std::get<0>(outputs).data_ptr());
  call.bind(call.first_output() + 1, std::get<1>(outputs).data_ptr());
}

/// `op` names the operator, `remember` gives the call's memo, `make` the call, `native` runs it in ATen,
/// `allocate` gives the outputs that a tile program is to fill.
template <typename Remember, typename Make, typename Native, typename Allocate>
auto run(std::string_view op, const c10::Device& device, Remember remember, Make make, Native native,
         Allocate allocate) -> decltype(allocate()) {
  if (dispatch::always_native(op, device)) return native();
  const Memo memo = remember();
  if (memo.says_native()) return native();
  const c10::DeviceGuard guard(device);
  Call call = make();
  if (call.outputs_are_empty()) return allocate();
  const dispatch::Runner runner = dispatch::choose(call, device, &memo);
  if (runner.native()) return native();
  auto outputs = allocate();
  bind_outputs(call, outputs);
  runner.run(call, device);
  return outputs;
}

Tensor dense_output(const LinearArguments& a) {
  return at::empty_symint(output_sizes(a), a.input.options());
}

TwoTensors attention_outputs(const AttentionArguments& a) {
  return {at::empty_strided_symint(output_sizes(a), output_strides(a), a.query.options()),
          at::empty(a.query.sizes().slice(0, 3), a.query.options().dtype(at::kFloat))};
}

struct Devices {
  static constexpr bool kChecks = true;
  static constexpr bool kHasPlans = true;

  static Tensor add(const AddArguments& a) {
    AddOutput output;
    return run(
        "add", a.self.device(), [&] { return Memo(a); },
        [&] {
          output = output_of(a);
          return call_of(a, output);
        },
        [&] { return native::add(a); },
        [&] {
          return at::empty_strided(output.sizes, output.strides, a.self.options().dtype(output.dtype));
        });
  }

  static Tensor linear(const LinearArguments& a) {
    return run(
        a.op, a.input.device(), [&] { return Memo(a); }, [&] { return call_of(a); },
        [&] { return native::linear(a); }, [&] { return dense_output(a); });
  }

  static TwoTensors linear_gelu_with_preactivation(const LinearArguments& a) {
    return run(
        a.op, a.input.device(), [&] { return Memo(a, /*keeps=*/true); },
        [&] { return call_of(a, /*keeps=*/true); }, [&] { return native::linear_gelu_with_preactivation(a); },
        [&] {
          return TwoTensors{dense_output(a), dense_output(a)};
        });
  }

  static Tensor softmax(const SoftmaxArguments& a) {
    return run(
        "softmax", a.self.device(), [&] { return Memo(a); }, [&] { return call_of(a); },
        [&] { return native::softmax(a); },
        [&] { return at::empty(a.self.sizes(), a.self.options().dtype(a.output_dtype())); });
  }

  static Tensor attention(const AttentionArguments& a) {
    return std::get<0>(run(
        a.op, a.query.device(), [&] { return Memo(a); }, [&] { return call_of(a); },
        [&] {
          return TwoTensors{native::attention(a), Tensor()};
        },
        [&] { return attention_outputs(a); }));
  }

  static TwoTensors flash_attention(const AttentionArguments& a) {
    return run(
        a.op, a.query.device(), [&] { return Memo(a); }, [&] { return call_of(a); },
        [&] { return native::flash_attention(a); }, [&] { return attention_outputs(a); });
  }

  static std::tuple<Tensor, Tensor, Tensor> flash_attention_backward(const AttentionArguments& a,
                                                                     const AttentionOutputs& outputs) {
    const c10::DeviceGuard guard(a.query.device());
    return native::flash_attention_backward(a, outputs);
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(tessera, CPU, m) {
  Kernels<Devices>::register_all(m);
}
TORCH_LIBRARY_IMPL(tessera, CUDA, m) {
  Kernels<Devices>::register_all(m);
}

}  // namespace tessera
