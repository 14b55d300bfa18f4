#include "tile_core/ir/lexer.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "tile_core/base/error.h"

namespace tessera {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string_view word_at(std::string_view rest) {
  auto end = std::find_if(rest.begin(), rest.end(),
                          [](char c) { return !is_letter(c) && !is_digit(c) && c != '.'; });
  return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
}

/// The number, with its sign, that the text begins with; empty where it begins with none.
std::string_view number_at(std::string_view rest) {
  double number = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  bool out_of_range = error == std::errc::result_out_of_range;
  return error == std::errc() || out_of_range ? rest.substr(0, static_cast<std::size_t>(end - rest.data()))
                                              : "";
}

template <typename Number>
bool read(std::string_view text, Number& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Lexer::Lexer(std::string_view text, const char* file) : text_(text), file_(file) {
  next_ = scan();
}

/// Goes on to the next token.
void Lexer::skip() {
  while (position_ < text_.size()) {
    if (text_.substr(position_).starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (!is_space(text_[position_])) {
      return;
    } else if (text_[position_++] == '\n') {
      ++line_;
      line_begin_ = position_;
    }
  }
}

Token Lexer::scan() {
  skip();
  Token token{TokenKind::end, "", line_, static_cast<int>(position_ - line_begin_) + 1};
  if (position_ == text_.size()) return token;
  std::string_view rest = text_.substr(position_);
  if (is_letter(rest[0])) {
    token.kind = TokenKind::word;
    token.text = word_at(rest);
  } else if (rest[0] == '%' && rest.size() > 1 && (is_digit(rest[1]) || is_letter(rest[1]))) {
    token.kind = TokenKind::value;
    token.text = rest.substr(0, 1 + word_at(rest.substr(1)).size());
  } else if (is_digit(rest[0]) || rest[0] == '-') {
    token.kind = TokenKind::number;
    token.text = number_at(rest);
  }
  if (token.text.empty()) {
    token.kind = TokenKind::mark;
    token.text = rest.substr(0, 1);
  }
  position_ += token.text.size();
  return token;
}

Token Lexer::take() {
  Token token = next_;
  next_ = scan();
  return token;
}

bool Lexer::accept(std::string_view text) {
  if (next_.kind == TokenKind::end || next_.text != text) return false;
  take();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) fail(fmt::format("'{}'", text));
}

std::string_view Lexer::word(std::string_view expected) {
  if (next_.kind != TokenKind::word) fail(expected);
  return take().text;
}

std::string_view Lexer::value(std::string_view expected) {
  if (next_.kind != TokenKind::value) fail(expected);
  return take().text;
}

int Lexer::integer(std::string_view expected) {
  int number = 0;
  if (next_.kind != TokenKind::number || !read(next_.text, number)) fail(expected);
  take();
  return number;
}

double Lexer::number(std::string_view expected) {
  double number = 0;
  if (!read(next_.text, number)) fail(expected);  // reads inf and nan too
  take();
  return number;
}

void Lexer::fail(std::string_view expected) const {
  std::string got = next_.kind == TokenKind::end ? "the end of the text" : fmt::format("'{}'", next_.text);
  fail_at(next_, fmt::format("expected {}, but got {}", expected, got));
}

void Lexer::fail_at(const Token& token, const std::string& what) const {
  std::size_t begin = 0;
  for (int line = 1; line < token.line; ++line) begin = text_.find('\n', begin) + 1;
  std::string_view line = text_.substr(begin, text_.find('\n', begin) - begin);
  throw UserError(
      diagnostic(what, {file_, token.line}, fmt::format("column {} of: {}", token.column, line), ""));
}

}  // namespace tessera
