#include "tests/support/emulate.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>
#include <utility>

#include "tile_core/base/error.h"
#include "tile_core/codegen/cuda.h"
#include "tile_core/codegen/emulated/tensor_map.h"
#include "tile_core/interpreter/memory.h"
#include "tile_core/runtime/digest.h"
#include "tile_core/runtime/launch.h"
#include "tile_core/runtime/parameters.h"
#include "tile_core/runtime/subprocess.h"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

/// What TESSERA_KERNEL of codegen/emulated/threads.h declares.
using Function = const char*(const void* parameters, long long blocks, long long shared_bytes,
                             const void* const* tensors, long long tensor_count, int late,
                             long long side_by_side);

const std::vector<std::string> kFlags = {"-std=c++20",      "-O1",   "-ffp-contract=off",
                                         "-fno-gnu-unique", "-fPIC", "-w"};

const fs::path kFolder = TESSERA_EMULATION_DIR;

/// The file NAME of the build folder, which `make(path)` makes where it is not there yet. Other processes may
/// do the same.
template <typename Make>
fs::path once(const std::string& name, const Make& make) {
  fs::create_directories(kFolder);
  fs::path path = kFolder / name;
  if (fs::exists(path)) return path;
  fs::path unfinished = fmt::format("{}.{}", path.string(), ::getpid());
  make(unfinished);
  fs::rename(unfinished, path);
  return path;
}

/// Compiles a file with these flags besides kFlags.
void compile(const fs::path& source, const fs::path& output, const std::vector<std::string>& flags) {
  std::vector<std::string> command = {TESSERA_HOST_COMPILER};
  command.insert(command.end(), kFlags.begin(), kFlags.end());
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-o", output.string(), source.string()});
  SubprocessResult result = run_subprocess(command);
  if (result.exit_code != 0) throw InternalError::format("emulation: {}\n{}", source.string(), result.errors);
}

std::string key(const std::string& text) {
  return kernel_key(text, kFlags, "emulated", TESSERA_HOST_COMPILER);
}

/// The wrappers, compiled once for all kernels: g++ takes NAME.gch where a text includes NAME.
fs::path wrappers(const std::string& text) {
  std::string name = key(text) + ".h";
  fs::path header = once(name, [&](const fs::path& path) { std::ofstream(path) << text; });
  once(name + ".gch", [&](const fs::path& path) { compile(header, path, {"-x", "c++-header"}); });
  return header;
}

/// The library of a kernel's text.
fs::path library(const KernelText& kernel) {
  std::string prelude = prelude_text(Prelude::emulated);
  std::string header = wrappers(prelude).string();
  return once(key(kernel.text) + ".so", [&](const fs::path& path) {
    fs::path source = path.string() + ".cpp";
    std::ofstream(source) << fmt::format("#include \"{}\"\n{}", header, kernel.text.substr(prelude.size()));
    compile(source, path, {"-shared"});
    fs::remove(source);
  });
}

/// By path; never unloaded.
std::map<std::string, Function*>& loaded() {
  static std::map<std::string, Function*> functions;
  return functions;
}

Function* load(const KernelText& kernel) {
  fs::path path = library(kernel);
  Function*& function = loaded()[path];
  if (function != nullptr) return function;
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) function = reinterpret_cast<Function*>(::dlsym(handle, kernel.name.c_str()));
  if (function == nullptr) throw InternalError::format("emulation of {}: {}", kernel.name, ::dlerror());
  return function;
}

std::vector<ScalarValue> packed(const KernelText& kernel, const std::vector<double>& scalars) {
  std::vector<ScalarValue> values;
  for (double scalar : scalars) values.push_back(ScalarValue::f32(static_cast<float>(scalar)));
  for (const Parameter& parameter : kernel.parameters) {
    if (parameter.kind != Parameter::Kind::scalar_i64) continue;
    auto i = static_cast<std::size_t>(parameter.tensor);
    values.at(i) = ScalarValue::i64(static_cast<std::int64_t>(scalars.at(i)));
  }
  return values;
}

/// The first byte of a tensor and the one after its last.
std::pair<const void*, const void*> extent(const TensorView& view) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool empty = false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(view.rank); ++i) {
    std::int64_t step = (view.sizes[i] - 1) * view.strides[i];
    first += std::min<std::int64_t>(step, 0);
    last += std::max<std::int64_t>(step, 0);
    empty = empty || view.sizes[i] == 0;
  }
  const char* data = static_cast<const char*>(view.data);
  if (empty) return {data, data};
  return {data + first * size_of(view.dtype), data + (last + 1) * size_of(view.dtype)};
}

/// What cuTensorMapEncodeTiled would put into a map.
::TensorMap encoded(const TensorMap& map, const TensorView& view) {
  ::TensorMap result{.data = static_cast<unsigned char*>(view.data),
                     .rank = static_cast<short>(view.rank),
                     .element_bytes = static_cast<short>(size_of(view.dtype)),
                     .swizzle = map.swizzle};
  int next = 0;
  auto add = [&](int dim) {
    auto d = static_cast<std::size_t>(dim);
    result.size[next] = view.sizes[d];
    result.stride[next] = view.strides[d] * size_of(view.dtype);
    result.box[next++] = map.box.at(d);
  };
  add(map.contiguous);
  for (int dim = view.rank; dim-- > 0;) {
    if (dim != map.contiguous) add(dim);
  }
  return result;
}

constexpr Residence kDevice = {.multiprocessors = 2, .clusters = 2};

}  // namespace

void emulate(const KernelText& kernel, const std::vector<TensorView>& tensors,
             const std::vector<double>& scalars, Landing landing) {
  for (int index : kernel.zeroed) interpreter::set_zero(tensors.at(static_cast<std::size_t>(index)));
  ParameterBlock parameters;
  pack(kernel, tensors, packed(kernel, scalars), parameters);
  for (std::size_t i = 0; i < kernel.maps.size(); ++i) {
    const TensorMap& map = kernel.maps[i];
    ::TensorMap bytes = encoded(map, tensors.at(static_cast<std::size_t>(map.tensor)));
    std::memcpy(parameters.map(i).data(), &bytes, sizeof bytes);
  }
  std::vector<const void*> extents;
  for (const TensorView& view : tensors) {
    auto [begin, end] = extent(view);
    extents.insert(extents.end(), {begin, end});
  }
  const std::int64_t blocks = grid_size(kernel, tensors, kDevice);
  const char* error = load(kernel)(parameters.fields.data(), blocks, kernel.shared_bytes, extents.data(),
                                   static_cast<long long>(tensors.size()), landing == Landing::last ? 1 : 0,
                                   kernel.counter ? std::max<std::int64_t>(blocks, 1) : 1);
  if (error != nullptr) throw InternalError::format("emulation: {}", error);
}

void remove_libraries() {
  for (const auto& [path, function] : loaded()) fs::remove(path);
  loaded().clear();
}

}  // namespace tessera::test
