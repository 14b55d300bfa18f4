#include <fmt/format.h>
#include <regex>

#include "tests/support/cases.h"
#include "tests/support/emulate.h"
#include "tests/support/emulated_result.h"
#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/passes/pipeline.h"

namespace tessera {
namespace {

/// The text of a product whose blocks share copies, with one piece replaced, and what emulation says of it.
class ClusterText : public ::testing::Test {
 protected:
  ClusterText() : case_(test::named_case("roles_linear_gelu")) {
    const Facts facts = test::facts_of(case_.program, case_.calls.front(), setting_);
    ready_ = lower(case_.program, {facts, setting_.schedule, setting_.target});
    kernel_ = emit_cuda(ready_, facts, setting_.schedule, Prelude::emulated);
  }

  /// Of the n-th place where the text stands after the prelude.
  std::string without(const std::string& text, const std::string& instead, int n = 0) {
    KernelText changed = kernel_;
    std::size_t place = prelude_text(Prelude::emulated).size();
    for (int i = 0; i <= n; ++i) {
      place = changed.text.find(text, place + 1);
      if (place == std::string::npos) return "no such text";
    }
    changed.text.replace(place, text.size(), instead);
    std::string said;
    for (Landing landing : {Landing::last, Landing::first}) {
      const std::string complaint = complaint_of(changed, landing);
      if (said.find(complaint) == std::string::npos) said += (said.empty() ? "" : " / ") + complaint;
    }
    return said;
  }

 private:
  std::string complaint_of(const KernelText& kernel, Landing landing) {
    std::vector<Buffer> tensors = test::arguments(ready_, case_.calls.front());
    std::vector<TensorView> views;
    for (Buffer& tensor : tensors) views.push_back(tensor.view());
    try {
      test::emulate(kernel, views, {}, landing);
    } catch (const InternalError& error) {
      // The lines are those of the operator's file.
      const std::string text = std::regex_replace(error.what(), std::regex("at line [0-9]+"), "at line #");
      const std::size_t name = text.find(kernel.name);
      return text.substr(name + kernel.name.size() + 2, text.find("   -->") - name - kernel.name.size() - 2);
    }
    const auto expected = test::outputs(ready_, case_.calls.front(), {.landing = landing});
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!test::same_values("out", expected[i], tensors[i].get(), 0)) return "wrong values";
    }
    return "right";
  }

  test::Case case_;
  test::Setting setting_{.schedule = {.stages = 2, .cluster = 2}};
  Program ready_;
  KernelText kernel_;
};

TEST_F(ClusterText, NoticesEveryMissingStep) {
  EXPECT_EQ(without("no cluster", "no cluster"), "no such text");
  EXPECT_EQ(without("cluster", "cluster"), "right");
  EXPECT_EQ(without("cluster_barrier();", "barrier();"),
            "thread 0 of block 0 uses the mbarrier at byte 81920, which another has made, with no barrier "
            "between / "
            "thread 0 of block 1 uses byte 81920 of shared memory as an mbarrier, which none is");
  EXPECT_EQ(without("cluster_barrier();", "", 1),
            "block 1 may end before thread 0 of the block of rank 0 has come to its memory");
  EXPECT_EQ(without("cluster_barrier();", "", 2),
            "block 1 may end before thread 0 of the block of rank 0 has come to its memory");
  EXPECT_EQ(
      without("within_block", ""),
      "thread 128 of block 1 issues a dot with descriptor 4000004000100040, whose address has more than 18 "
      "bits / thread 383 of block 1 issues a dot with descriptor 4000004000100240, whose address has more "
      "than 18 bits");
  EXPECT_EQ(without("lane < 2", "lane < 1"),
            "thread 129 of block 1 uses byte 80912 of shared memory as an mbarrier, which none is / "
            "thread 257 of block 0 uses byte 80912 of shared memory as an mbarrier, which none is");
  EXPECT_EQ(
      without("lane < 2", "lane < 1", 1),
      "block 0: deadlock: 0 of 768 threads have ended, 514 wait for an mbarrier at line #, 254 wait for the "
      "others of the cluster at line #");
  EXPECT_EQ(
      without(" && warp == 0", ""),
      "block 0: deadlock: 0 of 768 threads have ended, 514 wait for an mbarrier at line #, 254 wait for the "
      "others of the cluster at line #");
  EXPECT_EQ(
      without("full, 0x3", "full, 0x1"),
      "block 0: deadlock: 0 of 768 threads have ended, 514 wait for an mbarrier at line #, 254 wait for the "
      "others of the cluster at line #");
  EXPECT_EQ(without("fence_mbarriers();", ""),
            "thread 0 of block 0 has copies counted by an mbarrier that no fence has made known");
}

}  // namespace
}  // namespace tessera
