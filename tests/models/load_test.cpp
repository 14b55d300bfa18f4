#include "models/load.h"

#include <fstream>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/models/files.h"
#include "tile_core/base/error.h"

namespace tessera::models {
namespace {

/// A safetensors file from its header's text and data.
void write_file(const std::filesystem::path& path, const std::string& header, const std::string& data) {
  uint64_t length = header.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out << header << data;
}

/// The text that read_safetensors() throws, after the file's name.
std::string read_error(const std::filesystem::path& path) {
  try {
    read_safetensors(path);
  } catch (const UserError& error) {
    return std::string(error.what()).substr(("safetensors file " + path.string() + ": ").size());
  }
  return "no error";
}

std::string read_error(const std::string& header, size_t data_bytes) {
  TemporaryFolder folder;
  write_file(folder.path() / "t.safetensors", header, std::string(data_bytes, '\0'));
  return read_error(folder.path() / "t.safetensors");
}

TEST(Safetensors, WritesAndReadsEveryDtype) {
  TemporaryFolder folder;
  TensorMap tensors;
  for (auto dtype : {torch::kDouble, torch::kFloat, torch::kHalf, torch::kBFloat16, torch::kLong, torch::kInt,
                     torch::kShort, torch::kChar, torch::kByte, torch::kBool})
    tensors[c10::toString(dtype)] = torch::randint(0, 2, {3, 5}).to(dtype).t();
  tensors["empty"] = torch::empty({0, 4});
  tensors["scalar"] = torch::tensor(2.5);
  write_safetensors(folder.path() / "t.safetensors", tensors);
  TensorMap read = read_safetensors(folder.path() / "t.safetensors");
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(read.at(name).equal(tensor)) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "t.safetensors.partial"));
}

TEST(Safetensors, AWriteToATensorDoesNotReachTheFile) {
  TemporaryFolder folder;
  write_safetensors(folder.path() / "t.safetensors", {{"a", torch::ones(4)}});
  read_safetensors(folder.path() / "t.safetensors").at("a").zero_();
  EXPECT_TRUE(read_safetensors(folder.path() / "t.safetensors").at("a").equal(torch::ones(4)));
}

TEST(Safetensors, ReadsDataThatAreNotAligned) {
  TemporaryFolder folder;
  std::string header =
      R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("f":{"dtype":"F32","shape":[],"data_offsets":[1,5]},"__metadata__":{"format":"pt"}})";
  write_file(folder.path() / "t.safetensors", header, std::string("\x07\0\0\xC0\x3F", 5));  // 7 and 1.5
  TensorMap tensors = read_safetensors(folder.path() / "t.safetensors");
  EXPECT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors.at("f").item<float>(), 1.5f);
  EXPECT_EQ(tensors.at("b").item<uint8_t>(), 7);
}

TEST(Safetensors, RefusesDamagedFiles) {
  EXPECT_EQ(read_error("/nowhere/t.safetensors"), "No such file or directory");
  EXPECT_EQ(read_error("[]", 0), "its header is not a JSON object");
  EXPECT_EQ(read_error("{", 0).substr(0, 32), "[json.exception.parse_error.101]");
  EXPECT_EQ(read_error(R"({"a":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}})", 1),
            "'a' has dtype F8, known are F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL");
  EXPECT_EQ(read_error(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                       1),
            "'a' comes twice");
  EXPECT_EQ(read_error(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8),
            "'a' has the impossible shape [-2]");
  EXPECT_EQ(read_error(R"({"a":{"dtype":"F32","shape":[4611686018427387904,2],"data_offsets":[0,8]}})", 8),
            "'a' has the impossible shape [4611686018427387904, 2]");
  EXPECT_EQ(read_error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4),
            "'a' has bytes 0 to 4, but Float [2] needs 8 bytes");
  EXPECT_EQ(read_error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8),
            "'a' begins at byte 8, but the header ends at byte 0");
  EXPECT_EQ(read_error(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                       6),
            "'b' begins at byte 2, but 'a' ends at byte 4");
  EXPECT_EQ(read_error(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[6,10]}})",
                       10),
            "'b' begins at byte 6, but 'a' ends at byte 4");
  EXPECT_EQ(read_error(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})", 5),
            "its tensors have 8 bytes, but 5 follow the header: truncated or damaged");
}

TEST(Safetensors, RefusesHeadersThatDoNotFit) {
  TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "t.safetensors";
  std::ofstream(path) << "abc";
  EXPECT_EQ(read_error(path), "3 bytes are too few for a header");
  uint64_t length = 1000;
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(&length), 8) << "{}";
  EXPECT_EQ(read_error(path),
            "its header should have 1000 bytes, but the file has 10 (at most 100000000 are legal)");
}

TEST(Safetensors, NamesWhatCannotBeWritten) {
  auto write_error = [](const std::filesystem::path& path, const at::Tensor& tensor) {
    try {
      write_safetensors(path, {{"a", tensor}});
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(
      write_error("/nowhere/t", torch::ones(1)),
      "safetensors file /nowhere/t: cannot write it; is the folder there, writable, and the disk not full?");
  TemporaryFolder folder;
  std::string path = folder.path() / "t";
  EXPECT_EQ(write_error(path, torch::ones(1, torch::kComplexFloat)),
            "safetensors file " + path + ": 'a' has dtype ComplexFloat, which the format lacks");
}

TEST(LoadState, ConvertsDtypesAndSavesToAFile) {
  TemporaryFolder folder;
  torch::nn::Linear from(3, 2), to(3, 2);
  from->to(torch::kDouble);
  EXPECT_TRUE(load_state(*to, state(*from)).complete());
  EXPECT_TRUE(to->weight.equal(from->weight.to(torch::kFloat)));
  EXPECT_TRUE(to->weight.requires_grad());
  save_file(*from, folder.path() / "m.safetensors");
  torch::nn::init::zeros_(to->weight);
  EXPECT_EQ(load_file(*to, folder.path() / "m.safetensors").text(), "all names and shapes match");
  EXPECT_TRUE(to->weight.equal(from->weight.to(torch::kFloat)));
}

TEST(LoadState, CopiesBuffers) {
  torch::nn::BatchNorm1d from(3), to(3);
  from->running_mean.fill_(2);
  load_state(*to, state(*from));
  EXPECT_TRUE(to->running_mean.equal(from->running_mean));
}

TEST(LoadState, ReportsEveryDifferenceAndThenCopiesNothing) {
  torch::nn::Linear module(3, 2);
  at::Tensor before = module->bias.detach().clone();
  TensorMap tensors = {
      {"weight", torch::zeros({2, 4})}, {"bias", torch::zeros(2)}, {"scale", torch::zeros(1)}};
  for (bool strict : {true, false}) {
    try {
      load_state(*module, tensors, strict);
      FAIL();
    } catch (const UserError& error) {
      EXPECT_STREQ(error.what(),
                   "load_state(): the module and the tensors differ\n  unexpected: scale\n"
                   "  shapes: weight: [2, 3] in the module, [2, 4] in the tensors");
    }
    EXPECT_TRUE(module->bias.equal(before));
  }
  LoadReport report =
      load_state(*module, {{"bias", torch::ones(2)}, {"scale", torch::ones(1)}}, /*strict=*/false);
  EXPECT_EQ(report.text(), "the module and the tensors differ\n  missing: weight\n  unexpected: scale");
  EXPECT_TRUE(module->bias.equal(torch::ones(2)));
}

}  // namespace
}  // namespace tessera::models
