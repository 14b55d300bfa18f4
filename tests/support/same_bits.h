#pragma once
#include <ATen/ATen.h>

namespace tessera::test {

/// Whether two tensors of one device have the same dtype, sizes and bits: -0 is not 0, and an infinity is no
/// large number. A NaN stands where the other has one; its payload and sign may differ, which IEEE 754 leaves
/// to the instruction, as ATen's own kernels do.
inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  if (a.is_complex())
    return same_bits(at::view_as_real(a.resolve_conj()), at::view_as_real(b.resolve_conj()));
  if (!a.is_floating_point()) return at::equal(a, b);
  const at::Tensor nans = at::isnan(a);
  if (!at::equal(nans, at::isnan(b))) return false;
  const at::ScalarType word = a.element_size() == 2   ? at::kShort
                              : a.element_size() == 4 ? at::kInt
                                                      : at::kLong;
  const auto bits = [&](const at::Tensor& t) { return t.resolve_neg().view(word).masked_fill(nans, 0); };
  return at::equal(bits(a), bits(b));
}

}  // namespace tessera::test
