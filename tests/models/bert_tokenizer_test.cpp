#include "models/bert_tokenizer.h"

#include <boost/hash2/fnv1a.hpp>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/unicode.h"
#include "tests/models/files.h"
#include "tile_core/base/error.h"

namespace tessera::models {
namespace {

using Json = nlohmann::json;

const Json& fixture() {
  static const Json json = Json::parse(std::ifstream(source_file("tests/models/tokenizer.json")));
  return json;
}

const BertTokenizer& tokenizer() {
  static const BertTokenizer loaded = BertTokenizer::load(minilm_file("tokenizer.json"));
  return loaded;
}

std::string fnv1a(const std::string& bytes) {
  boost::hash2::fnv1a_64 hash;
  hash.update(bytes.data(), bytes.size());
  return std::to_string(hash.result());
}

std::u32string all_code_points() {
  std::u32string points;
  for (char32_t c = 0; c < 0x110000; ++c)
    if (c < 0xD800 || c >= 0xE000) points.push_back(c);
  return points;
}

TEST(Unicode, DecodesMalformedBytesAsReplacementCharacters) {
  EXPECT_EQ(decode_utf8("a\xC3\xA9\xF0\x9F\x98\x80"), U"aé😀");
  EXPECT_EQ(decode_utf8("a\xFFz"), U"a\uFFFDz");
  EXPECT_EQ(decode_utf8("a\xE2\x82"), U"a\uFFFD");
  EXPECT_EQ(decode_utf8("\xED\xA0\x80"), U"\uFFFD");  // a surrogate
  EXPECT_EQ(encode_utf8(U"aé😀"), "a\xC3\xA9\xF0\x9F\x98\x80");
}

TEST(Unicode, NormalizesEveryCodePointAsTheReference) {
  EXPECT_EQ(fnv1a(encode_utf8(bert_normalize(all_code_points()))), fixture()["normalized"]);
}

TEST(Unicode, PunctuationIsTheReferences) {
  std::u32string points = all_code_points();
  std::erase_if(points, [](char32_t c) { return !is_punctuation(c); });
  EXPECT_EQ(fnv1a(encode_utf8(points)), fixture()["punctuation"]);
}

TEST(Unicode, KeepsTheOrderOfMarksThatTheReferenceKeeps) {
  EXPECT_EQ(bert_normalize(U"x\U0001D16D\U0001D165"), U"x\U0001D165\U0001D16D");
  EXPECT_EQ(bert_normalize(U"x\U0001D16D\u034F\U0001D165"), U"x\U0001D16D\U0001D165");  // U+034F ends the run
  EXPECT_EQ(bert_normalize(U"x\U0001D16D\u0301\U0001D165"), U"x\U0001D165\U0001D16D");
}

TEST(BertTokenizer, IdsOfAThousandLinesEqualTheReferences) {
  ASSERT_EQ(fixture()["cases"].size(), 1000u);
  for (const Json& line : fixture()["cases"])
    EXPECT_EQ(tokenizer().encode(line[0].get<std::string>()), line[1].get<std::vector<int64_t>>()) << line[0];
}

TEST(BertTokenizer, PadsToTheLongestTextOrTheFilesLength) {
  std::vector<std::string> texts = {"hello", "hello, world"};
  TokenBatch longest = tokenizer().encode_batch(texts);
  EXPECT_EQ(longest.rows, 2);
  EXPECT_EQ(longest.length, 5);
  EXPECT_EQ(longest.ids, (std::vector<int64_t>{101, 7592, 102, 0, 0, 101, 7592, 1010, 2088, 102}));
  EXPECT_EQ(longest.mask, (std::vector<int64_t>{1, 1, 1, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(tokenizer().encode_batch(texts, Padding::fixed).length, fixture()["padded_length"]);
  EXPECT_EQ(tokenizer().encode_batch({}).length, 0);
}

TEST(BertTokenizer, TruncatesAtTheFilesLength) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "hello ";
  std::vector<int64_t> ids = tokenizer().encode(text);
  EXPECT_EQ(ids.size(), 128u);
  EXPECT_EQ(ids.back(), 102);
}

std::string load_error(const Json& file) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "tokenizer.json") << file;
  try {
    BertTokenizer::load(folder.path() / "tokenizer.json");
  } catch (const UserError& error) {
    std::string text = error.what();
    return text.substr(text.find("tokenizer.json: ") + 16);
  }
  return "no error";
}

TEST(BertTokenizer, RefusesOtherKindsOfTokenizers) {
  Json good = Json::parse(std::ifstream(minilm_file("tokenizer.json")));
  Json file = good;
  file["model"]["type"] = "BPE";
  EXPECT_EQ(load_error(file), "'type' is \"BPE\", but this tokenizer knows \"WordPiece\" only");
  file = good;
  file["normalizer"]["lowercase"] = false;
  EXPECT_EQ(load_error(file), "'lowercase' is false, but this tokenizer knows true only");
  file = good;
  file["added_tokens"][0]["lstrip"] = true;
  EXPECT_EQ(load_error(file), "'lstrip' is true, but this tokenizer knows false only");
  file = good;
  file["truncation"]["max_length"] = 1;
  EXPECT_EQ(load_error(file), "max_length 1 has no room for the template's tokens");
  EXPECT_EQ(load_error(good), "no error");
}

TEST(BertTokenizer, NamesAFileThatIsMissing) {
  try {
    BertTokenizer::load("/nowhere/tokenizer.json");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "tokenizer /nowhere/tokenizer.json: cannot open it; give the path of a tokenizer.json");
  }
}

}  // namespace
}  // namespace tessera::models
