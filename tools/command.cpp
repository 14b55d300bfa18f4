#include "tools/command.h"

#include <string>

namespace tessera::tools {

void parse_words(const argp& grammar, int argc, char** argv, void* input) {
  std::string name = std::string("tessera ") + argv[0];
  argv[0] = name.data();
  argp_err_exit_status = kUsage;
  argp_parse(&grammar, argc, argv, 0, nullptr, input);
}

}  // namespace tessera::tools
