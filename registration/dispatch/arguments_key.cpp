#include "registration/dispatch/arguments_key.h"

#include "registration/calls/precision.h"

namespace tessera::dispatch {
namespace {

enum class Family : std::uint8_t { add, linear, softmax, attention };

constexpr std::int64_t kNone = -1;  // no word of a tensor: no set of dispatch keys has all bits

/// A tensor that may be asked for its sizes, strides and memory. Arguments have not been checked yet.
bool is_strided(const at::Tensor& t) {
  return t.defined() && t.key_set().has(c10::DispatchKey::Dense) && t.has_storage() &&
         !t.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

/// Of the address, what alignments depend on.
std::int64_t misalignment_of(const at::Tensor& t) {
  constexpr std::uintptr_t kWidest = 16;
  return t.is_meta()
             ? 0
             : static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) % kWidest);
}

std::int64_t word_of(Family family, std::int64_t low) {
  return static_cast<std::int64_t>(family) << 32U | low;
}

}  // namespace

void ArgumentsKey::add(const at::Tensor& t) {
  fits_ = fits_ && is_strided(t) && static_cast<std::size_t>(t.dim()) <= kMostDims;
  if (!fits_) return;
  add(static_cast<std::int64_t>(t.key_set().raw_repr()));
  add(static_cast<std::int64_t>(t.get_device()) << 32U | static_cast<std::int64_t>(t.scalar_type()) << 24U |
      t.dim() << 16U | static_cast<std::int64_t>(t.unsafeGetTensorImpl()->is_wrapped_number()) << 8U |
      misalignment_of(t));
  for (const std::int64_t size : t.sizes()) add(size);
  for (const std::int64_t stride : t.strides()) add(stride);
}

void ArgumentsKey::add(const std::optional<at::Tensor>& t) {
  t.has_value() && t->defined() ? add(*t) : add(kNone);
}

ArgumentsKey::ArgumentsKey(const AddArguments& a) {
  add(word_of(Family::add, 0));
  add(a.self);
  add(a.other);
}

ArgumentsKey::ArgumentsKey(const LinearArguments& a, bool keeps) {
  add(word_of(Family::linear, static_cast<std::int64_t>(a.activation) << 2U |
                                  static_cast<std::int64_t>(keeps) << 1U |
                                  static_cast<std::int64_t>(allows_tf32(a.input))));
  add(a.input);
  add(a.weight);
  add(a.bias);
}

ArgumentsKey::ArgumentsKey(const SoftmaxArguments& a) {
  add(word_of(Family::softmax, a.dtype.has_value() ? 1 + static_cast<std::int64_t>(*a.dtype) : 0));
  add(a.dim);
  add(a.self);
}

ArgumentsKey::ArgumentsKey(const AttentionArguments& a) {
  add(word_of(Family::attention, static_cast<std::int64_t>(a.enable_gqa) << 2U |
                                     static_cast<std::int64_t>(a.is_causal) << 1U |
                                     static_cast<std::int64_t>(a.scale.has_value())));
  add(a.scale.value_or(0));
  add(a.dropout_p);
  add(a.diagonal);
  add(a.query);
  add(a.key);
  add(a.value);
  add(a.mask);
}

}  // namespace tessera::dispatch
