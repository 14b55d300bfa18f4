#include "models/sentence_encoder.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <torch/types.h>
#include <torch/utils.h>
#include <utility>

#include "models/transformer_block.h"
#include "tile_core/base/error.h"

namespace tessera::models {
namespace {

using Json = nlohmann::json;

void require(const Json& config, const char* key, const char* expected) {
  std::string found = config.at(key);
  if (found != expected)
    throw UserError::format("{} is '{}', but this encoder knows '{}' only", key, found, expected);
}

void check_inputs(const at::Tensor& ids, const at::Tensor& mask, int64_t positions) {
  if (ids.dim() != 2 || ids.scalar_type() != at::kLong || ids.size(1) > positions)
    throw UserError::format("SentenceEncoder: expected ids Long [B, S], S <= {}, but got {} {}", positions,
                            c10::toString(ids.scalar_type()), c10::str(ids.sizes()));
  if (mask.scalar_type() != at::kLong || mask.sizes() != ids.sizes())
    throw UserError::format("SentenceEncoder: expected mask Long {} but got {} {}", c10::str(ids.sizes()),
                            c10::toString(mask.scalar_type()), c10::str(mask.sizes()));
}

}  // namespace

SentenceEncoderOptions SentenceEncoderOptions::load(const std::filesystem::path& file) try {
  std::ifstream stream(file);
  if (!stream) throw UserError("cannot open it; give the path of a config.json");
  Json config = Json::parse(stream);
  require(config, "model_type", "bert");
  require(config, "hidden_act", "gelu");
  require(config, "position_embedding_type", "absolute");
  return SentenceEncoderOptions()
      .vocabulary(config.at("vocab_size"))
      .positions(config.at("max_position_embeddings"))
      .token_types(config.at("type_vocab_size"))
      .hidden(config.at("hidden_size"))
      .layers(config.at("num_hidden_layers"))
      .heads(config.at("num_attention_heads"))
      .intermediate(config.at("intermediate_size"))
      .layer_norm_eps(config.at("layer_norm_eps"));
} catch (const std::exception& error) {
  throw UserError::format("encoder configuration {}: {}", file.string(), error.what());
}

SentenceEncoderImpl::SentenceEncoderImpl(const SentenceEncoderOptions& options) : options(options) {
  reset();
}

void SentenceEncoderImpl::reset() {
  auto embedding = [&](const char* name, int64_t rows) {
    return register_module(name, torch::nn::Embedding(rows, options.hidden()));
  };
  word_embeddings = embedding("word_embeddings", options.vocabulary());
  position_embeddings = embedding("position_embeddings", options.positions());
  token_type_embeddings = embedding("token_type_embeddings", options.token_types());
  torch::nn::LayerNormOptions norm_options({options.hidden()});
  norm = register_module("norm", torch::nn::LayerNorm(norm_options.eps(options.layer_norm_eps())));
  layers = register_module("layers", torch::nn::ModuleList());
  for (int64_t i = 0; i < options.layers(); ++i)
    layers->push_back(TransformerBlock(TransformerBlockOptions(options.hidden(), options.heads())
                                           .dim_feedforward(options.intermediate())
                                           .layer_norm_eps(options.layer_norm_eps())
                                           .backend(options.backend())));
}

at::Tensor SentenceEncoderImpl::forward(const at::Tensor& ids, const at::Tensor& mask) {
  check_inputs(ids, mask, options.positions());
  // One text only: every token has type 0, and its position is its column.
  at::Tensor x = add(options.backend(), word_embeddings->forward(ids), token_type_embeddings->weight[0]);
  x = add(options.backend(), x, position_embeddings->weight.slice(0, 0, ids.size(1)));
  x = norm->forward(x);
  at::Tensor padding = mask == 0;
  for (size_t i = 0; i < layers->size(); ++i) x = layers->at<TransformerBlockImpl>(i).forward(x, padding);
  at::Tensor kept = mask.to(at::kFloat).unsqueeze(2);
  at::Tensor mean = (x.to(at::kFloat) * kept).sum(1) / kept.sum(1).clamp_min(1e-9);
  return mean / mean.norm(2, {1}, /*keepdim=*/true).clamp_min(1e-12);
}

TensorMap from_bert(const TensorMap& bert, int64_t layers) {
  TensorMap tensors;
  auto take = [&](const std::string& name) {
    auto found = bert.find(name);
    if (found == bert.end()) throw UserError::format("BERT checkpoint: '{}' is missing", name);
    return found->second;
  };
  for (const char* part : {"weight", "bias"}) {
    auto rename = [&](const std::string& from, const std::string& to) {
      tensors[fmt::format("{}.{}", to, part)] = take(fmt::format("{}.{}", from, part));
    };
    rename("embeddings.LayerNorm", "norm");
    for (int64_t i = 0; i < layers; ++i) {
      std::string from = fmt::format("encoder.layer.{}.", i), to = fmt::format("layers.{}.", i);
      std::vector<at::Tensor> projections;
      for (const char* name : {"query", "key", "value"})
        projections.push_back(take(fmt::format("{}attention.self.{}.{}", from, name, part)));
      tensors[fmt::format("{}self_attn.in_proj_{}", to, part)] = torch::cat(projections);
      rename(from + "attention.output.dense", to + "self_attn.out_proj");
      rename(from + "attention.output.LayerNorm", to + "norm1");
      rename(from + "intermediate.dense", to + "linear1");
      rename(from + "output.dense", to + "linear2");
      rename(from + "output.LayerNorm", to + "norm2");
    }
  }
  for (const char* name :
       {"word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight"})
    tensors[name] = take(std::string("embeddings.") + name);
  return tensors;
}

SentenceModel SentenceModel::load(const std::filesystem::path& folder, Backend backend, at::ScalarType dtype,
                                  at::Device device) {
  BertTokenizer tokenizer = BertTokenizer::load(folder / "tokenizer.json");
  SentenceEncoderOptions options = SentenceEncoderOptions::load(folder / "config.json").backend(backend);
  SentenceEncoder encoder(options);
  load_state(*encoder, from_bert(read_safetensors(folder / "model.safetensors"), options.layers()));
  encoder->to(device, dtype);
  encoder->eval();
  return {std::move(tokenizer), std::move(encoder)};
}

at::Tensor SentenceModel::embed(std::span<const std::string> texts) {
  torch::NoGradGuard no_grad;
  if (texts.empty()) return torch::empty({0, encoder->options.hidden()});
  TokenBatch batch = tokenizer.encode_batch(texts);
  at::Device device = encoder->word_embeddings->weight.device();
  auto on_device = [&](std::vector<int64_t>& values) {
    return torch::from_blob(values.data(), {batch.rows, batch.length}, at::kLong)
        .to(device, at::kLong, false, true);
  };
  return encoder->forward(on_device(batch.ids), on_device(batch.mask));
}

}  // namespace tessera::models
