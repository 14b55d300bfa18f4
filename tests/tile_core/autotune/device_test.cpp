#include "tile_core/autotune/device.h"

#include <gtest/gtest.h>

#include "tile_core/base/error.h"

namespace tessera::autotune {
namespace {

TEST(Device, ByNamePartOrArchitecture) {
  EXPECT_EQ(device_named("H200").name, "NVIDIA H200");
  EXPECT_EQ(device_named("NVIDIA H200").name, "NVIDIA H200");
  EXPECT_EQ(device_named("H200").target.arch, "sm_90a");
  EXPECT_EQ(device_named("NVIDIA A100-PCIE-40GB").name, "NVIDIA A100-PCIE-40GB");
  EXPECT_EQ(device_named("NVIDIA A100-PCIE-40GB").target.arch, "sm_80");
  EXPECT_EQ(device_named("sm_120a").name, "sm_120a");
}

TEST(Device, UnknownNamesAreAnError) {
  try {
    device_named("Voodoo");
    FAIL();
  } catch (const UserError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("no device is called 'Voodoo'; known are the names with H200, H100, A100, "))
        << text;
    EXPECT_NE(text.find("and the architectures sm_80, "), std::string::npos) << text;
  }
  EXPECT_THROW(device_named(""), UserError);
}

}  // namespace
}  // namespace tessera::autotune
