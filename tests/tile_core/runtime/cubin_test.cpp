#include "tile_core/runtime/cubin.h"

#include <gtest/gtest.h>

#include "tile_core/base/error.h"
#include "tile_core/runtime/loaded_function.h"

namespace tessera {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kGoodLog = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers
)";

constexpr const char* kBadLog =
    R"(ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas         .     400 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 400 bytes cumulative stack size
)";

Cubin with_log(const std::string& log) {
  Cubin cubin{.log = log};
  read_ptxas_log(cubin);
  return cubin;
}

TEST(Cubin, ReadsWhatPtxasSays) {
  const Cubin good = with_log(kGoodLog);
  EXPECT_EQ(good.registers, 168);
  EXPECT_EQ(good.stack_bytes, 0);
  EXPECT_EQ(good.spill_bytes, 0);
  EXPECT_EQ(good.complaints(), Texts{});
}

TEST(Cubin, SpillsStackAndSerialisedTensorCoresAreComplaints) {
  const Cubin bad = with_log(kBadLog);
  EXPECT_EQ(bad.registers, 255);
  EXPECT_EQ(bad.stack_bytes, 400);
  EXPECT_EQ(bad.spill_bytes, 32);
  EXPECT_EQ(bad.complaints(), (Texts{"32 bytes of registers spill to memory", "400 bytes of stack per thread",
                                     "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async "
                                     "instructions are serialized"}));
}

// B120: PTX newer than the driver. Only cubins are loaded, and the message says what was given instead.
TEST(Cubin, B120PtxIsRefusedWithItsVersion) {
  EXPECT_EQ(describe_image(".version 99.0\n.target sm_90a\n"), "PTX 99.0");
  EXPECT_EQ(describe_image("junk"), "not a kernel image");
  const Cubin ptx{.kernel = "add", .arch = "sm_90a", .image = "//\n.version 99.0\n.target sm_90a\n"};
  try {
    check_loadable(ptx, 9, 0);
    ADD_FAILURE() << "PTX was accepted";
  } catch (const UserError& error) {
    EXPECT_TRUE(
        std::string(error.what())
            .starts_with(
                "kernel add for sm_90a: the image is PTX 99.0, and only cubins (ELF) are loaded, so that "
                "no driver is too old for them"))
        << error.what();
  }
}

// B111: a kernel for another architecture is never loaded.
TEST(Cubin, B111OnlyDevicesOfItsArchitectureMayLoadIt) {
  const std::string elf =
      "\x7f"
      "ELF";
  const Cubin hopper{.kernel = "add", .arch = "sm_90a", .image = elf};
  const Cubin ampere{.kernel = "add", .arch = "sm_80", .image = elf};
  EXPECT_NO_THROW(check_loadable(hopper, 9, 0));
  EXPECT_NO_THROW(check_loadable(ampere, 8, 6));
  EXPECT_THROW(check_loadable(ampere, 9, 0), UserError);
  try {
    check_loadable(hopper, 10, 0);
    ADD_FAILURE() << "sm_90a was accepted on 10.0";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel add is compiled for sm_90a, and this device has compute capability 10.0: unset "
                 "TESSERA_ARCH to "
                 "run here");
  }
}

}  // namespace
}  // namespace tessera
