// The only thing that a process has to carry to take part in a run.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dasgd::tcp {

/// 32 random bytes. Whoever has them is a member of the run; everything else is derived from them,
/// by labels, so that no two uses share a key.
class Token {
 public:
  static constexpr std::size_t seed_bytes = 32;

  static Token random();
  /// "dasgd1-", the bytes in base 32 and four check digits; capital letters and blanks around it do
  /// not matter. Throws InputError, which never repeats what was given.
  static Token parse(std::string_view text);
  /// From the file if there is one, else from the environment variable DASGD_TOKEN; never from the
  /// command line, which every user of the machine can read. A file that others can read is
  /// reported to `warn`. Throws InputError.
  static Token from_file_or_environment(
      const std::optional<std::filesystem::path>& file,
      const std::function<void(const std::string&)>& warn = [](const std::string&) {});

  std::string text() const;

  /// Names the run in public: it says nothing about the token.
  std::array<std::byte, 16> run_id() const;
  /// A secret for one purpose.
  std::array<std::byte, 32> secret(std::string_view purpose) const;

  friend bool operator==(const Token&, const Token&) = default;

 private:
  std::array<std::byte, seed_bytes> seed_{};
};

/// Writes the token for its owner alone (mode 0600), whole or not at all; a link of that name is
/// replaced and not followed. Throws WriteError.
void write_token(const std::filesystem::path& path, const Token& token);

}  // namespace dasgd::tcp
