#pragma once
#include <string>
#include <string_view>

/// TESSERA_DUMP: what a kernel looked like on its way.
namespace tessera::dump {

/// Writes `text` if TESSERA_DUMP lists `kind` ("pass", "cuda", "ptx", "sass"): to the file KERNEL.SUFFIX in
/// TESSERA_DUMP_DIR, else to stderr under a heading. A folder that cannot be written throws UserError.
void write(std::string_view kind, const std::string& kernel, const std::string& suffix,
           const std::string& text);

}  // namespace tessera::dump
