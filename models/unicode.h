#pragma once
#include <string>
#include <string_view>

/// Text as BERT's uncased reference tokenizer (HuggingFace's BertNormalizer and BertPreTokenizer) sees it.
namespace tessera::models {

/// The code points of UTF-8 text; each malformed sequence gives U+FFFD.
std::u32string decode_utf8(std::string_view text);

/// UTF-8 of valid code points.
std::string encode_utf8(std::u32string_view text);

/// The reference's punctuation: ASCII symbols and the categories P* of Unicode 8.
bool is_punctuation(char32_t c);

/// Drops control and format characters, makes every white space U+0020, puts spaces around CJK ideographs,
/// decomposes (NFD), drops nonspacing marks and lower-cases.
std::u32string bert_normalize(std::u32string_view text);

}  // namespace tessera::models
