#include "tools/demo/encoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fstream>

#include "models/sentence_encoder.h"
#include "tessera/policy.h"
#include "tile_core/base/error.h"
#include "tools/demo/errors.h"
#include "tools/demo/kernels.h"
#include "tools/demo/report.h"

namespace tessera::demo {
namespace {

using models::Backend;
using models::SentenceModel;

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

/// The sentences as the encoder takes them.
struct Tokens {
  Tokens(const SentenceModel& model, const std::vector<std::string>& sentences, at::Device device) {
    models::TokenBatch batch = model.tokenizer.encode_batch(sentences);
    const auto tensor = [&](std::vector<std::int64_t>& values) {
      return at::from_blob(values.data(), {batch.rows, batch.length}, at::kLong).clone().to(device);
    };
    ids = tensor(batch.ids);
    mask = tensor(batch.mask);
  }
  at::Tensor ids, mask;
};

bool show_dtype(const char* name, at::ScalarType dtype, SentenceModel& native, SentenceModel& tessera,
                const Tokens& tokens, const at::Tensor& expected) {
  const auto run = [&](SentenceModel& model) { return model.encoder->forward(tokens.ids, tokens.mask); };
  const at::Tensor native_result = run(native).cpu();
  at::Tensor tessera_result;
  set_policy(Policy::tile);
  const std::vector<RecordedCall> calls = record_calls([&] { tessera_result = run(tessera).cpu(); });
  set_policy({});
  print_matrices(name, similarity(native_result), similarity(tessera_result));
  const bool good = print_errors("error of the embeddings", {dtype, native_result, tessera_result, expected});
  if (tokens.ids.is_cuda())
    return print_gpu({[&] { return run(native); }, [&] { return run(tessera); }}, calls) && good;
  fmt::print("    the interpreter ran every operator; an H200 under policy auto runs\n");
  print_plans(calls, autotune::device_named("H200"), Policy::automatic);
  return good;
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
  const at::NoGradGuard no_grad;
  const at::Device device = gpu ? at::kCUDA : at::kCPU;
  SentenceModel reference = SentenceModel::load(model, Backend::native, at::kDouble);
  const at::Tensor expected = reference.embed(sentences).to(at::kDouble);
  const Tokens tokens(reference, sentences, device);
  bool good = true;
  for (const auto& [name, dtype] : kDTypes) {
    SentenceModel native = SentenceModel::load(model, Backend::native, dtype, device);
    SentenceModel tessera = SentenceModel::load(model, Backend::tessera, dtype, device);
    good = show_dtype(name, dtype, native, tessera, tokens, expected) && good;
  }
  return good;
}

}  // namespace tessera::demo
