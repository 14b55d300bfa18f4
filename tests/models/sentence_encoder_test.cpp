#include "models/sentence_encoder.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include "tests/models/files.h"
#include "tile_core/base/error.h"

namespace tessera::models {
namespace {

/// Sentences and their embeddings in float64, [sentences, 384].
struct Fixture {
  std::vector<std::string> sentences;
  at::Tensor embeddings;
};

const Fixture& fixture() {
  static const Fixture loaded = [] {
    Fixture f;
    std::vector<at::Tensor> rows;
    for (const auto& row :
         nlohmann::json::parse(std::ifstream(source_file("tests/models/embeddings.json")))) {
      f.sentences.push_back(row[0]);
      rows.push_back(torch::tensor(row[1].get<std::vector<double>>(), torch::kDouble));
    }
    f.embeddings = torch::stack(rows);
    return f;
  }();
  return loaded;
}

double largest(const at::Tensor& difference) {
  return difference.abs().max().item<double>();
}

template <typename Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

class SentenceEncoders : public ::testing::TestWithParam<Backend> {};

INSTANTIATE_TEST_SUITE_P(Backends, SentenceEncoders, ::testing::Values(Backend::native, Backend::tessera),
                         [](const auto& info) {
                           return info.param == Backend::native ? "native" : "tessera";
                         });

TEST_P(SentenceEncoders, Fp32EqualsTheReferenceInABatchAndAlone) {
  SentenceModel model = SentenceModel::load(minilm_file(""), GetParam());
  at::Tensor found = model.embed(fixture().sentences);
  EXPECT_EQ(found.scalar_type(), torch::kFloat);
  EXPECT_FALSE(found.requires_grad());
  EXPECT_LE(largest(found.to(torch::kDouble) - fixture().embeddings), 1e-5);
  at::Tensor alone = model.embed(std::span(fixture().sentences).first(1));
  EXPECT_LE(largest(alone[0] - found[0]), 1e-5);
}

/// bf16 keeps 8 bits: after six layers an element of a vector of length 1 is off by at most 0.01, a
/// similarity by less than 0.01.
TEST_P(SentenceEncoders, Bf16IsCloseToTheReference) {
  SentenceModel model = SentenceModel::load(minilm_file(""), GetParam(), torch::kBFloat16);
  at::Tensor found = model.embed(fixture().sentences).to(torch::kDouble), expected = fixture().embeddings;
  EXPECT_LE(largest(found - expected), 0.01);
  EXPECT_LE(largest(found.matmul(found.t()) - expected.matmul(expected.t())), 0.01);
}

TEST(SentenceEncoder, RanksSentencesByMeaning) {
  at::Tensor similarity = fixture().embeddings.matmul(fixture().embeddings.t());
  EXPECT_GT(similarity[0][1].item<double>(), similarity[0][2].item<double>() + 0.3);
}

TEST(SentenceEncoder, NoTextsGiveNoRows) {
  SentenceModel model = SentenceModel::load(minilm_file(""), Backend::native);
  EXPECT_EQ(model.embed({}).sizes(), (std::vector<int64_t>{0, 384}));
}

TEST(SentenceEncoder, NamesWhatDoesNotFit) {
  SentenceEncoder encoder(
      SentenceEncoderOptions().vocabulary(10).positions(4).layers(1).backend(Backend::native));
  at::Tensor ids = torch::zeros({2, 3}, torch::kLong);
  EXPECT_EQ(error_of([&] {
              encoder->forward(torch::zeros({2, 5}, torch::kLong), ids);
            }),
            "SentenceEncoder: expected ids Long [B, S], S <= 4, but got Long [2, 5]");
  EXPECT_EQ(error_of([&] {
              encoder->forward(ids, torch::zeros({2, 3}));
            }),
            "SentenceEncoder: expected mask Long [2, 3] but got Float [2, 3]");
  EXPECT_EQ(error_of([] { from_bert({}, 1); }), "BERT checkpoint: 'embeddings.LayerNorm.weight' is missing");
  EXPECT_EQ(error_of([] { SentenceEncoderOptions::load("/nowhere/config.json"); }),
            "encoder configuration /nowhere/config.json: cannot open it; give the path of a config.json");
  TemporaryFolder folder;
  std::string path = folder.path() / "config.json";
  std::ofstream(path) << R"({"model_type": "gpt2"})";
  EXPECT_EQ(error_of([&] { SentenceEncoderOptions::load(path); }),
            "encoder configuration " + path + ": model_type is 'gpt2', but this encoder knows 'bert' only");
}

}  // namespace
}  // namespace tessera::models
