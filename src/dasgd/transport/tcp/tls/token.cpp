#include "dasgd/transport/tcp/tls/token.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <span>
#include <sys/stat.h>
#include <unistd.h>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/file_descriptor.hpp"
#include "dasgd/base/input_error.hpp"
#include "dasgd/transport/tcp/tls/openssl.hpp"

namespace dasgd::tcp {
namespace {

constexpr std::string_view prefix = "dasgd1-", digits = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t bits_of_a_digit = 5, check_digits = 4;
constexpr std::size_t seed_digits = (Token::seed_bytes * 8 + bits_of_a_digit - 1) / bits_of_a_digit;
constexpr std::size_t most_of_a_file = 4096;  // a token has 63 bytes

// HKDF (RFC 5869) with SHA-256: what it gives for one label says nothing about another.
void derive(std::span<const std::byte> seed, std::string_view label, std::span<std::byte> out) {
  const std::unique_ptr<EVP_KDF, FreedBy<EVP_KDF_free>> kdf(
      EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  require_ssl(kdf != nullptr, "HKDF");
  const std::unique_ptr<EVP_KDF_CTX, FreedBy<EVP_KDF_CTX_free>> context(EVP_KDF_CTX_new(kdf.get()));
  char digest[] = "SHA256";
  std::string info = "dasgd " + std::string(label);
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<std::byte*>(seed.data()),
                                        seed.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end()};
  require_ssl(EVP_KDF_derive(context.get(), reinterpret_cast<unsigned char*>(out.data()),
                             out.size(), parameters) == 1,
              "HKDF");
}

// Big-endian bits, the last digit filled up with zeros (RFC 4648 in small letters, unpadded).
std::string to_digits(std::span<const std::byte> bytes, std::size_t count) {
  std::string text;
  for (std::size_t digit = 0; digit < count; ++digit) {
    std::size_t value = 0;
    for (std::size_t bit = digit * bits_of_a_digit; bit < (digit + 1) * bits_of_a_digit; ++bit) {
      const bool set = bit < bytes.size() * 8 &&
                       (std::to_integer<unsigned>(bytes[bit / 8]) >> (7 - bit % 8) & 1U) != 0;
      value = 2 * value + (set ? 1 : 0);
    }
    text += digits[value];
  }
  return text;
}

std::string check_of(std::span<const std::byte> seed) {
  std::array<std::byte, 4> check{};
  derive(seed, "token check", check);
  return to_digits(check, check_digits);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

Token read_token(const std::filesystem::path& path,
                 const std::function<void(const std::string&)>& warn) {
  // A pipe in its place would be waited for without O_NONBLOCK.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (*file < 0 || ::fstat(*file, &about) != 0)
    throw InputError(
        fmt::format("{}: the token cannot be read: {}", path.string(), std::strerror(errno)));
  if (!S_ISREG(about.st_mode))
    throw InputError(fmt::format("{}: the token must be in a plain file", path.string()));
  std::array<char, most_of_a_file> buffer{};
  const auto got = ::read(*file, buffer.data(), buffer.size());
  if (got < 0)
    throw InputError(
        fmt::format("{}: the token cannot be read: {}", path.string(), std::strerror(errno)));
  try {
    const Token token = Token::parse({buffer.data(), static_cast<std::size_t>(got)});
    if ((about.st_mode & S_IROTH) != 0)
      warn(fmt::format("{}: all users of this machine can read this token; run chmod 600 on it",
                       path.string()));
    return token;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace

Token Token::random() {
  Token token;
  require_ssl(RAND_priv_bytes(reinterpret_cast<unsigned char*>(token.seed_.data()),
                              static_cast<int>(token.seed_.size())) == 1,
              "random bytes");
  return token;
}

Token Token::parse(std::string_view text) {
  std::string given(trimmed(text));
  std::transform(given.begin(), given.end(), given.begin(), small);
  if (!given.starts_with(prefix))
    throw InputError("not a token; a token begins with " + std::string(prefix));
  given.erase(0, prefix.size());
  if (given.size() != seed_digits + check_digits)
    throw InputError(
        fmt::format("the token has {} digits after {} and should have {}; copy it again",
                    given.size(), prefix, seed_digits + check_digits));
  Token token;
  for (std::size_t digit = 0; digit < given.size(); ++digit) {
    const auto value = digits.find(given[digit]);
    if (value == digits.npos)
      throw InputError(fmt::format(
          "digit {} of the token is neither a letter nor one of 2 to 7; copy it again", digit + 1));
    for (std::size_t bit = 0; bit < bits_of_a_digit; ++bit) {
      const std::size_t at = digit * bits_of_a_digit + bit;
      if (at < seed_bytes * 8 && (value >> (bits_of_a_digit - 1 - bit) & 1U) != 0)
        token.seed_[at / 8] |= std::byte{1} << (7 - at % 8);
    }
  }
  // Also compares the bits that fill up the last digit.
  if (token.text() != std::string(prefix) + given)
    throw InputError("the check digits of the token do not match: it was changed; copy it again");
  return token;
}

Token Token::from_file_or_environment(const std::optional<std::filesystem::path>& file,
                                      const std::function<void(const std::string&)>& warn) {
  if (file) return read_token(*file, warn);
  const char* const text = std::getenv("DASGD_TOKEN");
  if (!text || *text == '\0')
    throw InputError("no token: give `elastic.token_file` PATH, or set DASGD_TOKEN");
  try {
    return parse(text);
  } catch (const InputError& error) {
    throw InputError(std::string("DASGD_TOKEN: ") + error.what());
  }
}

std::string Token::text() const {
  return std::string(prefix) + to_digits(seed_, seed_digits) + check_of(seed_);
}

std::array<std::byte, 16> Token::run_id() const {
  std::array<std::byte, 16> id{};
  derive(seed_, "run id", id);
  return id;
}

std::array<std::byte, 32> Token::secret(std::string_view purpose) const {
  std::array<std::byte, 32> secret{};
  derive(seed_, "secret " + std::string(purpose), secret);
  return secret;
}

void write_token(const std::filesystem::path& path, const Token& token) {
  const std::string partial = partial_path(path.string());
  const auto fail = [&] {
    const int error = errno;
    ::unlink(partial.c_str());
    throw WriteError(
        fmt::format("{}: the token cannot be written: {}", path.string(), std::strerror(error)));
  };
  ::unlink(partial.c_str());  // left behind by a process that was killed
  const FileDescriptor file(
      ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (*file < 0) fail();
  const std::string line = token.text() + "\n";
  errno = ENOSPC;  // where less is written than was given
  if (::write(*file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) fail();
  if (::fsync(*file) != 0 && errno != EINVAL) fail();
  if (::rename(partial.c_str(), path.c_str()) != 0) fail();
}

}  // namespace dasgd::tcp
