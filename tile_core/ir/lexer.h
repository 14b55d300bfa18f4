#pragma once
#include <string>
#include <string_view>

#include "tile_core/base/loc.h"

namespace tessera {

enum class TokenKind : std::uint8_t { word, number, value, mark, end };

/// A piece of a program's text: a word, a number, a value (%12, %sum), one punctuation mark, or the end.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  int line = 1;
  int column = 1;
};

/// Cuts a program's text into tokens, one ahead. Line ends are white space, and so is what follows // on a
/// line.
class Lexer {
 public:
  /// `file` names the text in errors and in the locations of instructions; a literal, since programs keep it.
  Lexer(std::string_view text, const char* file);

  const Token& next() const { return next_; }
  Loc loc() const { return {file_, next_.line}; }
  Token take();

  bool accept(std::string_view text);  ///< takes the next token if it reads so
  void expect(std::string_view text);  ///< the same, or fails
  std::string_view word(std::string_view expected);
  std::string_view value(std::string_view expected);  ///< "%12"
  int integer(std::string_view expected);
  double number(std::string_view expected);  ///< also inf, -inf, nan

  /// Throws UserError: "expected EXPECTED, but got TOKEN", with the token's line, column and text.
  [[noreturn]] void fail(std::string_view expected) const;
  /// Throws UserError that says `what` of a token.
  [[noreturn]] void fail_at(const Token& token, const std::string& what) const;

 private:
  void skip();
  Token scan();

  std::string_view text_;
  const char* file_;
  std::size_t position_ = 0;
  int line_ = 1;
  std::size_t line_begin_ = 0;
  Token next_;
};

}  // namespace tessera
