#include "fetch/sha1.hpp"

#include <array>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <stdexcept>

namespace dasgd::app {

std::string sha1(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
    throw std::runtime_error("OpenSSL cannot compute a SHA-1 here");
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace dasgd::app
