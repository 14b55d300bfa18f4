#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace {

void* open(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::puts(dlerror());
    std::exit(1);
  }
  return library;
}

void check_add(const char* when) {
  const auto add = c10::Dispatcher::singleton()
                       .findSchemaOrThrow("tessera::add", "")
                       .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  if (at::equal(add.call(at::ones({3}), at::ones({3})), at::full({3}, 2.0))) return;
  std::printf("tessera::add is wrong %s\n", when);
  std::exit(2);
}

}  // namespace

// repeated LIBRARY COPY: the library is opened twice, then a copy of its file, then closed and opened again.
int main(int, char** arguments) {
  void* first = open(arguments[1]);
  check_add("after dlopen");
  void* second = open(arguments[1]);
  void* copy = open(arguments[2]);
  check_add("after dlopen of a copy");
  for (void* library : {copy, second, first}) dlclose(library);
  check_add("after dlclose");
  open(arguments[1]);
  check_add("after dlclose and dlopen");
  std::puts("done");
}
