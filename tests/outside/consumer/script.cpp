#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sstream>
#include <torch/script.h>

namespace {

bool same_as_native(torch::jit::Module& module) {
  const at::Tensor x = at::randn({2, 4, 6, 8});
  return at::allclose(module.forward({x}).toTensor(), module.get_method("native")({x}).toTensor(), 1e-4,
                      1e-5);
}

}  // namespace

// script MODULE [LIBRARY]: loads and runs a saved module that calls Tessera's operators. With LIBRARY the
// operators must be unknown at first, and known once the library is open.
int main(int count, char** arguments) {
  if (count == 3) {
    try {
      torch::jit::load(arguments[1]);
      return 1;
    } catch (const std::exception& error) {
      std::puts(error.what());
      if (std::strstr(error.what(), "tessera::") == nullptr) return 2;
    }
    if (dlopen(arguments[2], RTLD_NOW) == nullptr) {
      std::puts(dlerror());
      return 3;
    }
  }
  torch::jit::Module module = torch::jit::load(arguments[1]);
  if (!same_as_native(module)) return 4;

  std::stringstream file;
  module.save(file);
  torch::jit::Module again = torch::jit::load(file);
  if (!same_as_native(again)) return 5;
  std::puts("done");
}
