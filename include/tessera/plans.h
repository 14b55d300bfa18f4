#pragma once
#include <string>

/// Plans frozen to a file: a process that loads them runs the same kernels for the same shapes, hence
/// computes the same bits. TESSERA_PLANS loads one at the first call.
namespace tessera {

/// Writes the plans of the calls that this process has made on a GPU: of the first 65536 different ones, with
/// a warning where there were more. Throws UserError where the file cannot be written.
void save_plans(const std::string& path);

/// From the next call on the file's plans come before all others. Throws UserError where it is not whole, or
/// of another version.
void load_plans(const std::string& path);

}  // namespace tessera
