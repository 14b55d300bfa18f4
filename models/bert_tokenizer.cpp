#include "models/bert_tokenizer.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "models/unicode.h"
#include "tile_core/base/error.h"

namespace tessera::models {
namespace {

using Json = nlohmann::json;

void require(const Json& part, const char* key, const Json& expected) {
  Json found = part.value(key, Json());
  if (found != expected)
    throw UserError::format("'{}' is {}, but this tokenizer knows {} only", key, found.dump(),
                            expected.dump());
}

/// Throws where the file describes anything but uncased BERT.
void require_bert(const Json& file) {
  require(file.at("model"), "type", "WordPiece");
  require(file.at("pre_tokenizer"), "type", "BertPreTokenizer");
  const Json& normalizer = file.at("normalizer");
  require(normalizer, "type", "BertNormalizer");
  for (const char* step : {"clean_text", "handle_chinese_chars", "lowercase"})
    require(normalizer, step, true);
  if (!normalizer.at("strip_accents").is_null()) require(normalizer, "strip_accents", true);
  require(file.at("post_processor"), "type", "TemplateProcessing");
}

Json read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw UserError::format("cannot open it; give the path of a tokenizer.json");
  return Json::parse(stream);
}

}  // namespace

BertTokenizer BertTokenizer::load(const std::filesystem::path& path) try {
  Json file = read(path);
  require_bert(file);
  BertTokenizer t;
  const Json& model = file.at("model");
  for (const auto& [piece, id] : model.at("vocab").items()) t.vocabulary_.emplace(piece, id.get<int64_t>());
  t.unknown_ = t.vocabulary_.at(model.at("unk_token"));
  t.continuation_ = model.at("continuing_subword_prefix");
  t.max_word_ = model.at("max_input_chars_per_word");
  for (const Json& token : file.at("added_tokens")) {
    for (const char* rule : {"single_word", "lstrip", "rstrip", "normalized"}) require(token, rule, false);
    t.special_.push_back({token.at("content"), token.at("id")});
    if (t.special_.back().content.empty()) throw UserError("an added token is empty");
  }

  bool before = true;
  for (const Json& part : file.at("post_processor").at("single")) {
    if (part.contains("Sequence")) {
      before = false;
    } else {
      (before ? t.prefix_ : t.suffix_).push_back(t.vocabulary_.at(part.at("SpecialToken").at("id")));
    }
  }
  const Json& truncation = file.at("truncation");
  t.max_length_ = std::numeric_limits<int64_t>::max();
  if (!truncation.is_null()) t.max_length_ = truncation.at("max_length");
  if (t.max_length_ < static_cast<int64_t>(t.prefix_.size() + t.suffix_.size()))
    throw UserError::format("max_length {} has no room for the template's tokens", t.max_length_);
  const Json& padding = file.at("padding");
  if (padding.is_null()) return t;
  require(padding, "direction", "Right");
  t.pad_ = padding.at("pad_id");
  if (padding.at("strategy").is_object()) t.fixed_length_ = padding.at("strategy").at("Fixed");
  return t;
} catch (const std::exception& error) {
  throw UserError::format("tokenizer {}: {}", path.string(), error.what());
}

std::vector<int64_t> BertTokenizer::encode(std::string_view text) const {
  std::vector<int64_t> ids = prefix_;
  while (!text.empty()) {
    size_t at = std::string_view::npos;
    const Special* first = nullptr;  // the leftmost, then the longest
    for (const Special& special : special_) {
      size_t found = text.find(special.content);
      if (found == std::string_view::npos || found > at) continue;
      if (found < at || special.content.size() > first->content.size()) first = &special;
      at = found;
    }
    add_text(text.substr(0, at), ids);
    if (!first) break;
    ids.push_back(first->id);
    text.remove_prefix(at + first->content.size());
  }
  size_t room = static_cast<size_t>(max_length_) - suffix_.size();
  if (ids.size() > room) ids.resize(room);
  ids.insert(ids.end(), suffix_.begin(), suffix_.end());
  return ids;
}

TokenBatch BertTokenizer::encode_batch(std::span<const std::string> texts, Padding padding) const {
  std::vector<std::vector<int64_t>> rows;
  TokenBatch batch;
  batch.rows = static_cast<int64_t>(texts.size());
  if (padding == Padding::fixed) batch.length = fixed_length_;
  for (const std::string& text : texts) {
    rows.push_back(encode(text));
    batch.length = std::max(batch.length, static_cast<int64_t>(rows.back().size()));
  }
  for (const std::vector<int64_t>& row : rows) {
    size_t missing = static_cast<size_t>(batch.length) - row.size();
    batch.ids.insert(batch.ids.end(), row.begin(), row.end());
    batch.ids.insert(batch.ids.end(), missing, pad_);
    batch.mask.insert(batch.mask.end(), row.size(), 1);
    batch.mask.insert(batch.mask.end(), missing, 0);
  }
  return batch;
}

/// Words of the normalized text: split at spaces, and each punctuation character is a word.
void BertTokenizer::add_text(std::string_view text, std::vector<int64_t>& ids) const {
  std::u32string normal = bert_normalize(decode_utf8(text));
  std::u32string_view rest = normal;
  while (!rest.empty()) {
    auto ends = [](char32_t c) { return c == U' ' || is_punctuation(c); };
    auto end = static_cast<size_t>(std::find_if(rest.begin(), rest.end(), ends) - rest.begin());
    if (end == 0 && rest[0] != U' ') end = 1;
    if (end > 0) add_word(rest.substr(0, end), ids);
    rest.remove_prefix(std::max<size_t>(end, 1));
  }
}

/// The longest piece of the vocabulary first, from left to right; a word with a rest that no piece fits is
/// unknown as a whole.
void BertTokenizer::add_word(std::u32string_view word, std::vector<int64_t>& ids) const {
  if (static_cast<int64_t>(word.size()) > max_word_) return ids.push_back(unknown_);
  size_t known = ids.size();
  for (size_t begin = 0; begin < word.size();) {
    size_t end = word.size();
    for (; end > begin; --end) {
      std::string piece = (begin == 0 ? "" : continuation_) + encode_utf8(word.substr(begin, end - begin));
      if (auto found = vocabulary_.find(piece); found != vocabulary_.end()) {
        ids.push_back(found->second);
        break;
      }
    }
    if (end == begin) {
      ids.resize(known);
      return ids.push_back(unknown_);
    }
    begin = end;
  }
}

}  // namespace tessera::models
