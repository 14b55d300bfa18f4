#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include "models/backend.h"
#include "models/bert_tokenizer.h"
#include "models/load.h"

namespace tessera::models {

/// The defaults are those of all-MiniLM-L6-v2.
struct SentenceEncoderOptions {
  SentenceEncoderOptions() = default;
  /// Reads a BERT config.json; throws UserError for a file that is missing, damaged, or another model's.
  static SentenceEncoderOptions load(const std::filesystem::path& file);

  TORCH_ARG(int64_t, vocabulary) = 30522;
  TORCH_ARG(int64_t, positions) = 512;  ///< the longest text in tokens
  TORCH_ARG(int64_t, token_types) = 2;
  TORCH_ARG(int64_t, hidden) = 384;
  TORCH_ARG(int64_t, layers) = 6;
  TORCH_ARG(int64_t, heads) = 12;
  TORCH_ARG(int64_t, intermediate) = 1536;
  TORCH_ARG(double, layer_norm_eps) = 1e-12;
  TORCH_ARG(Backend, backend) = Backend::tessera;
};

/// BERT, then the mean over the tokens that are no padding, scaled to length 1. For inference: no dropout.
class SentenceEncoderImpl : public torch::nn::Cloneable<SentenceEncoderImpl> {
 public:
  explicit SentenceEncoderImpl(const SentenceEncoderOptions& options = {});

  void reset() override;

  /// ids int64 [B, S], mask int64 [B, S] with 1 for a token and 0 for padding -> fp32 [B, hidden], rows of
  /// length 1. The mean and the length are computed in fp32 whatever the dtype of the parameters. Throws
  /// UserError for other shapes and more than `positions` tokens.
  at::Tensor forward(const at::Tensor& ids, const at::Tensor& mask);

  SentenceEncoderOptions options;
  torch::nn::Embedding word_embeddings = nullptr;
  torch::nn::Embedding position_embeddings = nullptr;
  torch::nn::Embedding token_type_embeddings = nullptr;
  torch::nn::LayerNorm norm = nullptr;
  torch::nn::ModuleList layers = nullptr;  ///< of TransformerBlock
};

TORCH_MODULE(SentenceEncoder);

/// The tensors of a BERT checkpoint (HuggingFace's names) under the names of SentenceEncoder; the pooler,
/// which the mean replaces, and position_ids are left out. Throws UserError where a projection is missing.
TensorMap from_bert(const TensorMap& bert, int64_t layers);

/// A tokenizer and its encoder.
struct SentenceModel {
  BertTokenizer tokenizer;
  SentenceEncoder encoder;

  /// Reads tokenizer.json, config.json and model.safetensors of a folder.
  static SentenceModel load(const std::filesystem::path& folder, Backend backend = Backend::tessera,
                            at::ScalarType dtype = at::kFloat, at::Device device = at::kCPU);

  /// fp32 [texts, hidden] on the encoder's device, without gradients. All texts are one batch, padded to the
  /// longest.
  at::Tensor embed(std::span<const std::string> texts);
};

}  // namespace tessera::models
