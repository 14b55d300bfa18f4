#pragma once
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace tessera::test {

/// While it lives, the process gets at most a mebibyte more of address space: too little for a thread's
/// stack.
class NoMemoryForThreads {
 public:
  NoMemoryForThreads() {
    ::getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit now{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{1} << 20U),
                     before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~NoMemoryForThreads() { ::setrlimit(RLIMIT_AS, &before_); }
  NoMemoryForThreads(const NoMemoryForThreads&) = delete;
  NoMemoryForThreads& operator=(const NoMemoryForThreads&) = delete;

 private:
  rlimit before_{};
};

}  // namespace tessera::test
