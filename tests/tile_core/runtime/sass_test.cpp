#include "tile_core/runtime/sass.h"

#include <gtest/gtest.h>

#include "tests/support/environment.h"
#include "tests/tile_core/runtime/kernels.h"
#include "tile_core/base/error.h"
#include "tile_core/runtime/compile.h"
#include "tile_core/runtime/nvrtc.h"

namespace tessera {
namespace {

TEST(Sass, ShowsTheInstructions) {
  const KernelText kernel{.name = "add_one",
                          .text = R"(extern "C" __global__ void add_one(float4* a) {
  float4 v = a[threadIdx.x];
  v.x += 1, v.y += 1, v.z += 1, v.w += 1;
  a[threadIdx.x] = v;
})",
                          .threads = 32};
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    const std::string text = sass(compile(kernel, Target::named(arch)));
    for (const char* landmark : {"add_one", "LDG.E.128", "FADD", "STG.E.128", "EXIT"}) {
      EXPECT_NE(text.find(landmark), std::string::npos) << arch << " lacks " << landmark << "\n" << text;
    }
  }
}

TEST(Sass, SaysWhatTheToolSaid) {
  Nvrtc::get();  // the tool lies near it
  const Cubin broken{.kernel = "add", .arch = "sm_90a", .image = "junk"};
  try {
    sass(broken);
    ADD_FAILURE() << "junk was disassembled";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(" failed on kernel add for sm_90a (exit code "),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tessera
