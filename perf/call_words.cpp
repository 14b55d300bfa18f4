#include "perf/call_words.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fmt/ranges.h>
#include <limits>
#include <sstream>

#include "perf/problem.h"
#include "tile_core/base/error.h"
#include "tile_core/base/nearest.h"

namespace tessera {

/// A flag of a call.
struct CallOption {
  const char* name;
  const char* value;  ///< what the word after it is; nullptr: there is none
  const char* meaning;
  std::string_view operators;  ///< that take it; empty: all
  void (*set)(CallSpec&, std::string_view word);
};

namespace {

/// What the shape of one operator looks like.
struct Grammar {
  std::string_view op;
  std::string_view form;
  std::string_view example;
  std::size_t rank;  ///< 0: any
};
constexpr Grammar kGrammars[] = {{"add", "sizes", "1024x1024", 0},
                                 {"linear", "MxKxN", "4096x768x3072", 3},
                                 {"linear_gelu", "MxKxN", "4096x768x3072", 3},
                                 {"softmax", "sizes", "65536x4096", 0},
                                 {"scaled_dot_product_attention", "BxHxSxD", "2x16x4096x128", 4},
                                 {"flash_attention", "BxHxSxD", "2x16x4096x128", 4}};

std::int64_t number(std::string_view text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    throw UserError::format("{}: expected a whole number up to {} but got '{}'", what,
                            std::numeric_limits<std::int64_t>::max(), text);
  if (error != std::errc() || end != text.data() + text.size())
    throw UserError::format("{}: expected a whole number but got '{}'", what, text);
  return value;
}

/// A size that 0 stands for the default of.
std::int64_t positive(std::string_view text, std::string_view what) {
  const std::int64_t value = number(text, what);
  if (value < 1) throw UserError::format("{}: expected a number from 1 on but got '{}'", what, text);
  return value;
}

std::vector<std::int64_t> sizes(std::string_view text, std::string_view what) {
  std::vector<std::int64_t> result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    result.push_back(number(text.substr(begin, end - begin), what));
    if (result.back() < 0) throw UserError::format("{}: a size of '{}' is below 0", what, text);
    begin = end + 1;
  }
  return result;
}

void set_dtype(CallSpec& spec, std::string_view word) {
  for (const DType dtype : {f16, bf16, f32}) {
    if (name_of(dtype) != word) continue;
    spec.dtype = dtype;
    return;
  }
  throw UserError::format("--dtype: expected f16, bf16 or f32 but got '{}'", word);
}

void set_mask(CallSpec& spec, std::string_view word) {
  if (word != "bool" && word != "added")
    throw UserError::format("--mask: expected bool or added but got '{}'", word);
  spec.mask = word == "bool" ? CallSpec::Mask::boolean : CallSpec::Mask::added;
}

void set_approximate(CallSpec& spec, std::string_view word) {
  if (word != "none" && word != "tanh")
    throw UserError::format("--approximate: expected none or tanh but got '{}'", word);
  spec.approximate = word;
}

constexpr std::string_view kLinear = "linear linear_gelu",
                           kAttention = "scaled_dot_product_attention flash_attention";

constexpr CallOption kOptions[] = {
    {"dtype", "TYPE", "f16, bf16 or f32 (bf16)", "", set_dtype},
    {"tf32", nullptr, "linear, linear_gelu of f32: products may be in TF32", kLinear,
     [](CallSpec& spec, std::string_view) { spec.tf32 = true; }},
    {"other", "SHAPE", "add: sizes of the second operand (as the first)", "add",
     [](CallSpec& spec, std::string_view word) { spec.other = sizes(word, "--other"); }},
    {"dim", "N", "softmax: the dimension (-1)", "softmax",
     [](CallSpec& spec, std::string_view word) { spec.dim = number(word, "--dim"); }},
    {"no-bias", nullptr, "linear, linear_gelu: without a bias", kLinear,
     [](CallSpec& spec, std::string_view) { spec.bias = false; }},
    {"approximate", "FORM", "linear_gelu: none or tanh (none)", "linear_gelu", set_approximate},
    {"training", nullptr, "linear_gelu: the kernel of training, which also gives the product", "linear_gelu",
     [](CallSpec& spec, std::string_view) { spec.training = true; }},
    {"causal", nullptr, "attention: row i sees keys j <= i", kAttention,
     [](CallSpec& spec, std::string_view) { spec.causal = true; }},
    {"mask", "KIND", "scaled_dot_product_attention: bool or added", "scaled_dot_product_attention", set_mask},
    {"kv-heads", "N", "attention: heads of key and value (H)", kAttention,
     [](CallSpec& spec, std::string_view word) { spec.kv_heads = positive(word, "--kv-heads"); }},
    {"kv-length", "N", "attention: rows of key and value (S)", kAttention,
     [](CallSpec& spec, std::string_view word) { spec.kv_length = positive(word, "--kv-length"); }},
};

const Grammar& grammar_of(std::string_view op) {
  if (op == "attention") op = "scaled_dot_product_attention";
  const auto* found = std::ranges::find(kGrammars, op, &Grammar::op);
  if (found != std::end(kGrammars)) return *found;
  std::vector<std::string_view> known;
  for (const Grammar& grammar : kGrammars) known.push_back(grammar.op);
  throw UserError::format("no operator is called '{}'; there are {}{}", op, fmt::join(known, ", "),
                          nearest_hint(op, known));
}

/// " linear linear_gelu " contains " linear ".
bool lists(std::string_view words, std::string_view word) {
  return fmt::format(" {} ", words).find(fmt::format(" {} ", word)) != std::string::npos;
}

void check(const CallWords& words) {
  const CallSpec& spec = words.call;
  if (spec.op.empty()) throw UserError("expected OP SHAPES, as in linear_gelu 4096x768x3072");
  const Grammar& grammar = grammar_of(spec.op);
  if (spec.shape.empty())
    throw UserError::format("{}: expected {}, as in {} {}", spec.op, grammar.form, spec.op, grammar.example);
  if (grammar.rank != 0 && spec.shape.size() != grammar.rank) {
    throw UserError::format("{}: expected {}, as in {}, but got {}", spec.op, grammar.form, grammar.example,
                            fmt::join(spec.shape, "x"));
  }
  for (const CallOption* option : words.given) {
    if (!option->operators.empty() && !lists(option->operators, spec.op))
      throw UserError::format("{} takes no --{}", spec.op, option->name);
  }
  if (spec.tf32 && spec.dtype != f32)
    throw UserError::format("--tf32: expected --dtype f32, but got {}", name_of(spec.dtype));
  perf::check_shapes(spec);
}

/// Operator and shape, in this order.
void take_argument(CallSpec& spec, std::string_view word) {
  if (spec.op.empty()) {
    spec.op = grammar_of(word).op;
  } else if (spec.shape.empty()) {
    spec.shape = sizes(word, spec.op);
  } else {
    throw UserError::format("'{}' is one word too many after {} {}", word, spec.op,
                            fmt::join(spec.shape, "x"));
  }
}

constexpr int kFirstKey = 0x100;  // argp takes a key below it for a one-letter option, too

bool take(CallWords& words, int key, std::string_view word) {
  if (key == ARGP_KEY_ARG) {
    take_argument(words.call, word);
    return true;
  }
  if (key == ARGP_KEY_SUCCESS) {
    if (words.required || !words.call.op.empty()) check(words);
    return true;
  }
  if (key < kFirstKey || key >= kFirstKey + static_cast<int>(std::size(kOptions))) return false;
  const CallOption& option = kOptions[key - kFirstKey];
  option.set(words.call, word);
  words.given.push_back(&option);
  return true;
}

error_t parse(int key, char* word, argp_state* state) {
  CallWords& words = *static_cast<CallWords*>(state->input);
  try {
    return take(words, key, word == nullptr ? "" : word) ? 0 : ARGP_ERR_UNKNOWN;
  } catch (const UserError& error) {
    words.problem = error.what();
    argp_error(state, "%s", error.what());
    return EINVAL;
  }
}

}  // namespace

const argp& call_arguments() {
  static const auto options = [] {
    std::array<argp_option, std::size(kOptions) + 1> all{};  // the last one ends the list
    for (std::size_t i = 0; i < std::size(kOptions); ++i) {
      const CallOption& option = kOptions[i];
      all[i] = {option.name, kFirstKey + static_cast<int>(i), option.value, 0, option.meaning, 0};
    }
    return all;
  }();
  static const argp arguments{options.data(), parse, nullptr, nullptr, nullptr, nullptr, nullptr};
  return arguments;
}

CallSpec call_from_text(std::string_view line) {
  std::istringstream stream{std::string(line)};
  std::vector<std::string> words{"call"};
  for (std::string word; stream >> word;) words.push_back(word);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  CallWords parsed;
  const auto count = static_cast<int>(words.size());
  if (argp_parse(&call_arguments(), count, pointers.data(), ARGP_SILENT, nullptr, &parsed) == 0)
    return parsed.call;
  throw UserError::format("'{}' is no call: {}", line,
                          parsed.problem.empty()
                              ? "expected OP SHAPES [flags], as in linear_gelu 4096x768x3072"
                              : parsed.problem);
}

}  // namespace tessera
