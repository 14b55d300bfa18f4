#include <cstdlib>
#include <unistd.h>

// What every use of the driver begins with. To open it is not to use it: cuBLAS, which torch loads, does.
extern "C" {

[[noreturn]] int cuInit() {
  constexpr char kText[] = "the driver was used\n";
  (void)!write(STDERR_FILENO, kText, sizeof(kText) - 1);
  std::abort();
}

int cuDriverGetVersion() {
  return cuInit();
}

int cuGetProcAddress() {
  return cuInit();
}

int cuGetProcAddress_v2() {
  return cuInit();
}
}
