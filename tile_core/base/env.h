#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// TESSERA_JIT. block: the call waits for the compiler. background: native runs until the kernel is ready.
/// off: no kernel is compiled; those in the cache are used.
enum class JitMode { block, background, off };
/// TESSERA_POLICY. automatic: the plan decides. tile: a generated kernel or an error. native: always ATen.
enum class Policy { automatic, tile, native };

/// The environment. This room's env.cpp is the only place that reads it. An empty value means unset; a value
/// that is not legal throws UserError naming the variable, the value and the legal ones.
namespace env {

struct Variable {
  enum class Kind { choice, list, megabytes, flag, path, name };
  std::string_view name;
  Kind kind;
  std::string_view values;   ///< choice, list: the legal words, separated by '|'; else what the value is
  std::string_view initial;  ///< the value of an unset variable
  std::string_view meaning;
};

/// Every TESSERA_* variable there is.
std::span<const Variable> table();

/// The table with the current values, for people. A value that is not legal is shown as such.
std::string print_table();

JitMode jit();
Policy policy();
std::string cache_dir();            ///< empty: the default place
std::uint64_t cache_max_bytes();    ///< size limit of the kernel cache
bool dumps(std::string_view kind);  ///< TESSERA_DUMP lists `kind`
bool dumps_anything();
std::string dump_dir();  ///< empty: dumps go to stderr
bool logs(std::string_view channel);
std::string records();  ///< file of measured plans; empty: none but the shipped ones
std::string plans();    ///< file of frozen plans; empty: none
std::string arch();     ///< architecture to compile for, "sm_90a"; empty: the device's
std::string nvrtc();    ///< file of the NVRTC to use; empty: search
bool update_golden();

/// What the system says, empty where unset.
std::string home();
std::string xdg_cache_home();
std::string cuda_home();    ///< CUDA_HOME, else CUDA_PATH
std::string search_path();  ///< PATH

/// Warns, once per name, of every TESSERA_* variable in the environment that the table does not declare. The
/// first reading of any variable does it.
void warn_of_unknown();

/// Makes every Cached value be read again at its next use.
void reload();
std::uint32_t generation();

/// A setting of at most 32 bits, read at its first use and again after `reload()`: two atomic loads on a hot
/// path.
template <typename T>
class Cached {
  static_assert(sizeof(T) <= sizeof(std::uint32_t));

 public:
  explicit constexpr Cached(T (*read)()) : read_(read) {}

  T get() {
    std::uint64_t packed = packed_.load(std::memory_order_acquire);
    const std::uint64_t now = generation();
    if (packed >> 32U != now) {
      packed = now << 32U | static_cast<std::uint32_t>(read_());
      packed_.store(packed, std::memory_order_release);
    }
    return static_cast<T>(static_cast<std::uint32_t>(packed));
  }

 private:
  T (*read_)();
  std::atomic<std::uint64_t> packed_{0};  // generation, value
};

}  // namespace env
}  // namespace tessera
