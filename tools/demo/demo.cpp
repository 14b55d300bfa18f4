#include <argp.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cstdio>
#include <fmt/format.h>

#include "tile_core/base/version.h"
#include "tile_core/runtime/driver.h"
#include "tools/demo/block.h"
#include "tools/demo/encoder.h"

namespace tessera::demo {
namespace {

/// The words of the command line.
struct Request {
  std::string sentences = TESSERA_DEMO_SENTENCES;
  std::string model = TESSERA_MINILM_DIR;
};

error_t parse(int key, char* word, argp_state* state) {
  Request& request = *static_cast<Request*>(state->input);
  if (key == ARGP_KEY_ARG) {
    request.sentences = word;
  } else if (key == 'm') {
    request.model = word;
  } else {
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

int run(int argc, char** argv) {
  constexpr argp_option kOptions[] = {
      {"model", 'm', "FOLDER", 0, "tokenizer.json, config.json and model.safetensors of the encoder", 0}, {}};
  Request request;
  const argp grammar{kOptions,
                     parse,
                     "[SENTENCES]",
                     "A transformer block and a sentence encoder, native and tessera side by side; SENTENCES "
                     "is a text file.",
                     nullptr,
                     nullptr,
                     nullptr};
  argp_err_exit_status = 2;
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what is done shows while the rest runs
  argp_parse(&grammar, argc, argv, 0, nullptr, &request);
  const std::vector<std::string> sentences = read_sentences(request.sentences);
  const bool gpu = c10::cuda::device_count() > 0;
  fmt::print("Tessera {} on {}\n\n", version(), gpu ? driver::device_info(0).name : "the CPU: no GPU here");
  const bool block = show_block(gpu);
  fmt::print("\n");
  const bool encoder = show_encoder(request.model, sentences, gpu);
  return block && encoder ? 0 : 1;
}

}  // namespace
}  // namespace tessera::demo

int main(int argc, char** argv) {
  try {
    return tessera::demo::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "demo: {}\n", error.what());
    return 1;
  }
}
