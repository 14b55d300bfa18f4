#include "tools/command.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "tile_core/base/nearest.h"

namespace tessera::tools {
namespace {

struct Option {
  std::string_view name;
  int key;
  bool takes_value;
};

void add_options(const argp& grammar, std::vector<Option>& all) {
  for (const argp_option* o = grammar.options; o != nullptr && (o->name != nullptr || o->key != 0); ++o) {
    if (o->name != nullptr) all.push_back({o->name, o->key, o->arg != nullptr});
  }
  for (const argp_child* child = grammar.children; child != nullptr && child->argp != nullptr; ++child)
    add_options(*child->argp, all);
}

std::string nearest_option(std::string_view name, const std::vector<Option>& options) {
  std::vector<std::string> words;
  for (const Option& option : options) words.push_back(fmt::format("--{}", option.name));
  return nearest_hint(fmt::format("--{}", name), {words.begin(), words.end()});
}

/// What getopt would say less of: an option that there is not, a negative size taken for options; empty where
/// there is nothing of it.
std::string wrong_word(const argp& grammar, int argc, char** argv) {
  std::vector<Option> options = {{"help", '?', false}, {"usage", 0, false}, {"version", 'V', false}};
  add_options(grammar, options);
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") break;
    if (word.starts_with("--")) {
      const std::string_view name = word.substr(2, word.find('=') - 2);
      const auto found =
          std::ranges::find_if(options, [&](const Option& option) { return option.name.starts_with(name); });
      if (found == options.end()) {
        return fmt::format("no option is called '--{}'{}", name, nearest_option(name, options));
      }
      if (found->takes_value && word.find('=') == word.npos) ++i;
    } else if (word.size() > 1 && word[0] == '-') {
      if (std::isdigit(static_cast<unsigned char>(word[1])) != 0)
        return fmt::format("a size of '{}' is below 0", word);
      const auto found = std::ranges::find(options, word[1], &Option::key);
      if (word.size() == 2 && found != options.end() && found->takes_value) ++i;
    }
  }
  return "";
}

/// Of commands that take options only.
error_t refuse_words(int key, char* word, argp_state* state) {
  if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
  argp_error(state, "'%s' is one word too many", word);
  return EINVAL;
}

}  // namespace

void check_options(const argp& grammar, int argc, char** argv) {
  const std::string problem = wrong_word(grammar, argc, argv);
  if (problem.empty()) return;
  fmt::print(stderr, "{}: {}\n", argv[0], problem);
  argp_help(&grammar, stderr, ARGP_HELP_SEE, argv[0]);
  std::exit(kUsage);
}

void parse_words(const argp& grammar, int argc, char** argv, void* input) {
  std::string name = std::string("tessera ") + argv[0];
  argv[0] = name.data();
  argp_err_exit_status = kUsage;
  argp whole = grammar;
  if (whole.parser == nullptr) whole.parser = refuse_words;
  check_options(whole, argc, argv);
  argp_parse(&whole, argc, argv, 0, nullptr, input);
}

}  // namespace tessera::tools
