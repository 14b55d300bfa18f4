#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// A library opened at run time. It stays open until the process ends.
class SharedLibrary {
 public:
  /// Opens the first candidate, a path or a bare name, that loads. `what` and `help` go into the UserError
  /// that lists every attempt with the loader's reason.
  static SharedLibrary open_first(std::string_view what, const std::vector<std::string>& candidates,
                                  std::string_view help);

  const std::string& path() const { return path_; }  ///< the file that was opened

  /// The address of a symbol; nullptr where the library lacks it.
  void* find(const char* symbol) const;

  /// Sets `function` to the symbol's address. Throws UserError naming library and symbol where it is missing.
  template <typename Function>
  void get(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(require(symbol));
  }

 private:
  SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* require(const char* symbol) const;

  void* handle_;
  std::string path_;
};

/// The files of the libraries that this process has loaded and whose name starts with `prefix`,
/// "libnvrtc.so".
std::vector<std::string> loaded_libraries(std::string_view prefix);

/// The folder of a path: "/a/b" of "/a/b/c.so".
std::string folder_of(const std::string& path);

}  // namespace tessera
