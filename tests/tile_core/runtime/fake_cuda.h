#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::test {

/// What the fake libcuda.so.1 was asked to do, and how it shall answer. Reached through `fake_cuda_state`.
struct FakeCuda {
  std::vector<std::string> calls;         ///< those that change something, with their arguments
  std::vector<std::uint64_t> parameters;  ///< the first fields of the last launch
  std::size_t parameter_fields = 0;       ///< how many fields a launch copies
  int version = 13000;
  int init_result = 0;
  bool capturing = false;
  int capture_result = 0;
  int load_result = 0;
  int launch_result = 0;
  int map_result = 0;
  int set_result = 0;
  int user_object_result = 0, retain_result = 0;
  std::vector<std::function<void()>> destroyed;  ///< what the end of each user object calls
  int current_context =
      0;  ///< 0: none; 1, 2: the primary ones of devices 0 and 1; 3: another one on device 0
};

using FakeCudaState = FakeCuda& (*)();

}  // namespace tessera::test
