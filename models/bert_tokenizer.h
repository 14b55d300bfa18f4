#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::models {

/// Token ids of several texts, row by row: [rows, length]. mask is 1 for a token and 0 for padding.
struct TokenBatch {
  int64_t rows = 0;
  int64_t length = 0;
  std::vector<int64_t> ids;
  std::vector<int64_t> mask;
};

/// How wide a batch is: as its longest text, or as the tokenizer's file says.
enum class Padding { longest, fixed };

/// BERT's uncased WordPiece tokenizer. Ids equal those of HuggingFace's `tokenizers` with the same file.
class BertTokenizer {
 public:
  /// Reads a tokenizer.json: vocabulary, special tokens, template, truncation and padding. Throws UserError
  /// for a file that is missing, damaged, or of another kind of tokenizer.
  static BertTokenizer load(const std::filesystem::path& file);

  /// Ids of one text (UTF-8) with the template's special tokens, cut at max_length(), not padded.
  std::vector<int64_t> encode(std::string_view text) const;

  TokenBatch encode_batch(std::span<const std::string> texts, Padding padding = Padding::longest) const;

  /// Longest result of encode(), special tokens included.
  int64_t max_length() const { return max_length_; }

  int64_t vocabulary_size() const { return static_cast<int64_t>(vocabulary_.size()); }

 private:
  struct Special {
    std::string content;  // found in the text as it is written
    int64_t id;
  };

  BertTokenizer() = default;
  void add_text(std::string_view text, std::vector<int64_t>& ids) const;
  void add_word(std::u32string_view word, std::vector<int64_t>& ids) const;

  std::unordered_map<std::string, int64_t> vocabulary_;
  std::vector<Special> special_;
  std::vector<int64_t> prefix_, suffix_;  // of the template: [CLS], [SEP]
  std::string continuation_;              // before every piece but a word's first
  int64_t unknown_ = 0;
  int64_t max_word_ = 0;  // in code points
  int64_t max_length_ = 0;
  int64_t fixed_length_ = 0;  // 0 where the file says none
  int64_t pad_ = 0;
};

}  // namespace tessera::models
