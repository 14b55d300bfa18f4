#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::demo {

/// The lines of a text file that are not empty; throws UserError where there are none.
std::vector<std::string> read_sentences(const std::filesystem::path& path);

/// all-MiniLM-L6-v2: the sentences' similarity matrix in fp32 and bf16, native and tessera side by side.
/// False where something is not as it has to be. Throws UserError for a model's files that do not fit.
bool show_encoder(const std::filesystem::path& model, const std::vector<std::string>& sentences, bool gpu);

}  // namespace tessera::demo
