#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tile_core/autotune/key.h"
#include "tile_core/autotune/variant.h"

namespace tessera::autotune {

/// What one variant was measured at.
struct Measurement {
  Variant variant;
  double microseconds = 0;  ///< median of one call; 0 where it was not measured
  double error = 0;     ///< largest error against the fp64 reference, over the reference's largest magnitude
  std::string failure;  ///< why it may not be used: did not compile, wrong result; empty where it may
};

/// Of the libraries that a measurement depends on, as "2.11.0", "13.0"; empty where it is not known.
struct Versions {
  std::string torch;
  std::string driver;  ///< the newest CUDA version that the driver supports
  std::string nvrtc;

  /// "torch 2.10.0 instead of 2.11.0" and so on, where both sides are known.
  std::string difference(const Versions& here) const;
  bool operator==(const Versions&) const = default;
};

/// What was measured for one key on one device.
struct Record {
  Key key;
  std::string library;             ///< version of Tessera whose kernels were measured
  Versions versions;               ///< that they were measured with
  double native_microseconds = 0;  ///< of the best native candidate
  double native_error = 0;
  std::string native_name;            ///< which one, "cuDNN attention"
  std::vector<Measurement> variants;  ///< every candidate
};

/// The measured keys of one file, or those that ship with the library.
class Records {
 public:
  static constexpr int kFormat = 1;

  /// Adds the records of a document and returns what was wrong with it, for a warning: where and what, empty
  /// where nothing is. A record that is not whole is left out; a document that is none, or of another format,
  /// adds nothing.
  std::string add_file(const std::string& path);
  std::string add_text(std::string_view text, const std::string& name);

  /// Replaces the record of the same key.
  void add(Record record);
  /// Throws UserError where the file cannot be written.
  void write(const std::string& path) const;

  /// The record of this key, else of the nearest shape with every dim within 2x, else nullptr. Records of
  /// another version of the library are none.
  const Record* find(const Key& key) const;

  std::size_t size() const;

 private:
  std::unordered_map<std::string, std::vector<Record>> by_family_;
};

}  // namespace tessera::autotune
