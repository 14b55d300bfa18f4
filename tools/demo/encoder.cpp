#include "tools/demo/encoder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fstream>

#include "models/sentence_encoder.h"
#include "tessera/policy.h"
#include "tile_core/base/error.h"
#include "tools/demo/kernels.h"
#include "tools/demo/report.h"

namespace tessera::demo {
namespace {

using models::Backend;
using models::SentenceModel;
using Sentences = std::vector<std::string>;

constexpr std::pair<const char*, at::ScalarType> kDTypes[] = {{"fp32", at::kFloat}, {"bf16", at::kBFloat16}};

at::Tensor similarity(const at::Tensor& embeddings) {
  return embeddings.matmul(embeddings.t()).to(at::kCPU);
}

std::string row_of(const at::Tensor& matrix, std::int64_t i) {
  std::string text;
  for (std::int64_t j = 0; j < matrix.size(1); ++j)
    text += fmt::format("{:6.2f}", matrix[i][j].item<float>());
  return text;
}

void print_matrices(const char* dtype, const at::Tensor& native, const at::Tensor& tessera) {
  const auto width = static_cast<std::size_t>(6 * native.size(0));
  fmt::print("  {}\n     {:<{}}   {}\n", dtype, "native", width, "tessera");
  for (std::int64_t i = 0; i < native.size(0); ++i)
    fmt::print("  {:>2} {}   {}\n", i + 1, row_of(native, i), row_of(tessera, i));
}

/// The model in one dtype on both sides.
struct Pair {
  Pair(const std::filesystem::path& folder, at::ScalarType dtype, at::Device device)
      : native(SentenceModel::load(folder, Backend::native, dtype, device)),
        tessera(SentenceModel::load(folder, Backend::tessera, dtype, device)) {}
  SentenceModel native, tessera;
};

bool show_dtype(const char* name, Pair& models, const at::Tensor& expected, const Sentences& sentences,
                bool gpu) {
  const at::Tensor native = models.native.embed(sentences);
  set_policy(Policy::tile);
  at::Tensor tessera;
  const std::vector<RecordedCall> calls = record_calls([&] { tessera = models.tessera.embed(sentences); });
  set_policy({});
  print_matrices(name, similarity(native), similarity(tessera));
  print_errors("error of the embeddings", perf::error_of(native.cpu(), expected),
               perf::error_of(tessera.cpu(), expected));
  if (!gpu) {
    fmt::print("  plans on an H200, policy auto\n{}",
               plan_table(calls, autotune::device_named("H200"), Policy::automatic));
    return true;
  }
  return print_gpu(
      {[&] { return models.native.embed(sentences); }, [&] { return models.tessera.embed(sentences); }},
      calls);
}

}  // namespace

std::vector<std::string> read_sentences(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> sentences;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) sentences.push_back(line);
  }
  if (sentences.empty())
    throw UserError::format("no sentences in {}; give a text file with one on each line", path.string());
  return sentences;
}

bool show_encoder(const std::filesystem::path& model, const std::vector<std::string>& sentences, bool gpu) {
  fmt::print("Sentence encoder, all-MiniLM-L6-v2: cosine similarity of\n");
  for (std::size_t i = 0; i < sentences.size(); ++i) fmt::print("  {:>2} {}\n", i + 1, sentences[i]);
  const at::Tensor expected =
      SentenceModel::load(model, Backend::native, at::kDouble).embed(sentences).to(at::kDouble);
  bool good = true;
  for (const auto& [name, dtype] : kDTypes) {
    Pair models(model, dtype, gpu ? at::kCUDA : at::kCPU);
    good = show_dtype(name, models, expected, sentences, gpu) && good;
  }
  return good;
}

}  // namespace tessera::demo
