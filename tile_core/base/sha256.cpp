#include "tile_core/base/sha256.h"

#include <boost/hash2/digest.hpp>
#include <boost/hash2/sha2.hpp>

namespace tessera {

std::string sha256(std::string_view bytes) {
  boost::hash2::sha2_256 hash;
  hash.update(bytes.data(), bytes.size());
  return boost::hash2::to_string(hash.result());
}

}  // namespace tessera
