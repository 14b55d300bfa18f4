#include "perf/result.h"

#include <gtest/gtest.h>

#include "perf/call_words.h"
#include "tests/support/temporary_folder.h"
#include "tile_core/base/error.h"

namespace tessera::perf {
namespace {

Summary time_of(double median) {
  return {median, median * 0.99, median * 1.01, 15};
}

/// 1 GB in `ours` microseconds.
Row memory_row(double ours, double native) {
  Row row{.spec = call_from_text("softmax 1024x1024"), .plan = "row=1, from the cost model: a reason"};
  row.work = {.flops = 0, .read_bytes = 5e8, .write_bytes = 5e8};
  row.roof_microseconds = 250;
  row.ours = {"tessera", time_of(ours), time_of(ours / 2)};
  row.natives = {{"slow", time_of(native * 3), time_of(native)},
                 {"softmax", time_of(native), time_of(native)}};
  return row;
}

Row compute_row(double ours, double native) {
  Row row = memory_row(ours, native);
  row.spec = call_from_text("linear 512x512x512");
  row.work.flops = 1e12;
  return row;
}

TEST(Row, IsComparedWithTheFastestNative) {
  const Row row = memory_row(500, 400);
  EXPECT_EQ(row.best_native(&Candidate::cold).name, "softmax");
  EXPECT_DOUBLE_EQ(row.ratio(&Candidate::cold), 0.8);
  EXPECT_DOUBLE_EQ(row.ratio(&Candidate::steady), 1.6);
}

TEST(Row, IsJudgedColdWhereTheMemoryIsTheLimitElseByTheLowerRegime) {
  EXPECT_DOUBLE_EQ(memory_row(500, 400).judged(), 0.8);
  Row row = compute_row(500, 600);
  row.ours.steady = time_of(1000);
  EXPECT_DOUBLE_EQ(row.judged(), 0.6);
}

TEST(Row, HasRatesInTheUnitOfItsLimit) {
  EXPECT_DOUBLE_EQ(memory_row(500, 400).work.rate(500), 2000);
  EXPECT_STREQ(memory_row(500, 400).work.unit(), "GB/s");
  EXPECT_DOUBLE_EQ(compute_row(500, 400).work.rate(500), 2000);
  EXPECT_STREQ(compute_row(500, 400).work.unit(), "TFLOP/s");
}

TEST(Family, HasTheGeometricMeanAndTheWorstRow) {
  const Family family{"softmax", {memory_row(100, 200), memory_row(400, 200)}};
  EXPECT_DOUBLE_EQ(family.mean(&Candidate::cold), 1);
  EXPECT_DOUBLE_EQ(family.worst().judged(), 0.5);
}

TEST(Json, OfARowHasEverythingThatTheReportDraws) {
  const nlohmann::json json = to_json(memory_row(500, 400));
  EXPECT_EQ(json["call"], "softmax 1024x1024 --dtype bf16");
  EXPECT_EQ(json["unit"], "GB/s");
  EXPECT_EQ(json["best_native"]["cold"], "softmax");
  EXPECT_DOUBLE_EQ(json["ratio"]["cold"].get<double>(), 0.8);
  EXPECT_DOUBLE_EQ(json["ours"]["cold"]["median_us"].get<double>(), 500);
  EXPECT_DOUBLE_EQ(json["ours"]["cold"]["roof_percent"].get<double>(), 50);
  EXPECT_EQ(json["ours"]["cold"]["samples"], 15);
  EXPECT_EQ(json["natives"].size(), 2);
  EXPECT_TRUE(json["accuracy"]["holds"].get<bool>());
  EXPECT_FALSE(json["repeated"].get<bool>());
}

TEST(Json, OfAFamilyHasMeanAndWorst) {
  const nlohmann::json json = to_json(Family{"softmax", {memory_row(100, 200), memory_row(400, 200)}});
  EXPECT_EQ(json["family"], "softmax");
  EXPECT_DOUBLE_EQ(json["geometric_mean"]["cold"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(json["judged_ratio"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(json["worst"]["ratio"].get<double>(), 0.5);
}

TEST(Text, OfARowNamesEveryCandidate) {
  Row row = memory_row(500, 400);
  row.left_out = {"math: 9.0 times the best one's time"};
  EXPECT_EQ(
      to_text(row),
      "softmax 1024x1024 --dtype bf16\n"
      "  plan: row=1, from the cost model: a reason\n"
      "  checked: error 0.0e+00 max, 0.0e+00 rms; native 0.0e+00, 0.0e+00; allowed 0.0e+00, 0.0e+00\n"
      "                                                        cold                      steady\n"
      "  tessera                           500.00 us ±5.00    2000 GB/s    250.00 us ±2.50    4000 GB/s\n"
      "  slow                             1200.00 us ±12.00    833 GB/s    400.00 us ±4.00    2500 GB/s\n"
      "  softmax                           400.00 us ±4.00    2500 GB/s    400.00 us ±4.00    2500 GB/s\n"
      "  left out: math: 9.0 times the best one's time\n"
      "  cold: 0.800 of softmax, 50.0 % of the roof\n"
      "  steady: 1.600 of slow, 100.0 % of the roof\n");
}

DeviceRow device_row() {
  Row row = compute_row(500, 600);
  row.plan = "linear, by hand";
  row.ours.name = "by hand";
  return {.program = "linear",
          .row = row,
          .generated = {{"m=64", time_of(550), time_of(250)}, {"m=128", time_of(525), time_of(300)}},
          .rejected = {"m=256: 8 bytes of registers spill to memory"}};
}

TEST(DeviceRow, IsComparedWithTheFastestGeneratedKernel) {
  const DeviceRow row = device_row();
  EXPECT_EQ(row.best_generated(&Candidate::cold).name, "m=128");
  EXPECT_DOUBLE_EQ(row.ratio(&Candidate::cold), 1.05);
  EXPECT_DOUBLE_EQ(row.ratio(&Candidate::steady), 1);
}

TEST(Json, OfADeviceRowHasItsKernelsToo) {
  const nlohmann::json json = to_json(device_row());
  EXPECT_EQ(json["program"], "linear");
  EXPECT_EQ(json["ours"]["name"], "by hand");
  EXPECT_EQ(json["best_generated"]["steady"], "m=64");
  EXPECT_DOUBLE_EQ(json["generated_ratio"]["cold"].get<double>(), 1.05);
  EXPECT_DOUBLE_EQ(json["ratio"]["cold"].get<double>(), 1.2);
  EXPECT_EQ(json["generated"].size(), 2);
  EXPECT_EQ(json["rejected"].size(), 1);
}

TEST(Text, OfADeviceRowEndsWithItsKernels) {
  EXPECT_TRUE(to_text(device_row())
                  .ends_with("  cold: 1.050 of the generated m=128, 525.00 us\n"
                             "  steady: 1.000 of the generated m=64, 250.00 us\n"
                             "  rejected: m=256: 8 bytes of registers spill to memory\n"))
      << to_text(device_row());
}

TEST(WriteResult, MakesItsFolder) {
  const test::TemporaryFolder folder;
  write_result((folder / "new").string(), "softmax", {{"device", "NVIDIA H200"}});
  EXPECT_EQ(test::read_file(folder.path() / "new" / "softmax.json"), "{\n \"device\": \"NVIDIA H200\"\n}\n");
}

TEST(WriteResult, WhatCannotBeWrittenIsAnError) {
  const test::TemporaryFolder folder;
  const std::string file = (folder / "file").string();
  test::write_file(file, "text");
  try {
    write_result(file, "softmax", {{"device", "NVIDIA H200"}});
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), "cannot write into " + file + "; --out names another folder");
  }
}

}  // namespace
}  // namespace tessera::perf
