#include "tools/landmarks.h"

#include <gtest/gtest.h>

namespace tessera::tools {
namespace {

TEST(Landmarks, AreCountedByOpcodeAndModifier) {
  EXPECT_EQ(landmarks("        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
                      "        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;\n"
                      "        /*0020*/              @!P0 LDG.E R8, desc[UR4][R2.64] ;\n"
                      "        /*0030*/              @P12 BAR.SYNC.DEFER_BLOCKING 0x0 ;\n"
                      "        /*0040*/                   FFMA R1, R2, R3, R4 ;\n"
                      "        /*0050*/             @!UP0 FFMA.FTZ R1, R2, R3, R4 ;\n"
                      "        /*0060*/                   LDGSTS.E.BYPASS.128 [R2], desc[UR4][R4.64] ;\n"
                      "        /*0070*/                   LDGDEPBAR ;\n"),
            "FFMA 2, LDGSTS.128 1, LDG.128 1, LDG 1, BAR 1");
}

TEST(Landmarks, OfOtherTextAreNone) {
  EXPECT_EQ(landmarks("no code /* here */"), "");
}

}  // namespace
}  // namespace tessera::tools
