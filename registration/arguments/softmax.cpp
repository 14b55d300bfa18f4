#include "registration/arguments/softmax.h"

#include "registration/arguments/check.h"

namespace tessera {

void check(const SoftmaxArguments& a) {
  check_defined("softmax", "self", a.self);
  if (a.dtype.has_value()) {
    TORCH_CHECK(is_real_float(*a.dtype),
                "softmax(): expected dtype to be Half, BFloat16, Float or Double, but got ", *a.dtype);
    TORCH_CHECK(!a.self.is_complex(), "softmax(): expected self of a real dtype, but got ",
                a.self.scalar_type());
  } else {
    check_real_float("softmax", "self", a.self);
  }
  const int64_t rank = std::max<int64_t>(a.self.dim(), 1);
  TORCH_CHECK_INDEX(-rank <= a.dim && a.dim < rank, "softmax(): expected dim to be in [", -rank, ", ",
                    rank - 1, "], but got ", a.dim);
}

}  // namespace tessera
