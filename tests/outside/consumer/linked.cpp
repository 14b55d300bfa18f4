#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <cstdio>

// Refers to nothing of Tessera: the operators are there because the library is on the link line.
int main() {
  const auto schema = c10::Dispatcher::singleton().findSchema({"tessera::add", ""});
  if (!schema.has_value()) {
    std::puts("tessera::add is not registered");
    return 1;
  }
  const auto add = schema->typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  const at::Tensor a = at::randn({5, 7}), b = at::randn({7});
  return at::equal(add.call(a, b), at::add(a, b)) ? 0 : 2;
}
