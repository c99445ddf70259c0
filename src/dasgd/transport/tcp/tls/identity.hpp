// Who this process is to others: its certificate, and whose certificates it accepts.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "dasgd/transport/tcp/tls/token.hpp"

struct ssl_ctx_st;
struct x509_store_ctx_st;
struct evp_pkey_st;

namespace dasgd::tcp {

/// 128 random bits per start of a process.
using Origin = std::array<std::byte, 16>;

/// The public half of a member's key, which nobody else can use.
using PublicKey = std::array<std::byte, 32>;

/// What a certificate says about its holder. Whoever has the token can make one that says anything:
/// a name to show, not one to trust.
struct PeerName {
  std::string name;              ///< at most 64 bytes of UTF-8; empty without a certificate
  std::optional<Origin> origin;  ///< where the certificate was made from a token
  std::optional<PublicKey> key = {};
};

/// One side of mutual TLS, for connections made and accepted alike: TLS 1.3 only, both sides
/// verified, no tickets, no early data. Host names are not looked at: every holder of a certificate
/// of the same authority is a member.
class Identity {
 public:
  static constexpr std::size_t most_name = 64;  // bytes; X.509 allows no more

  /// The token is the run's authority: each process makes its certificate in memory. Dates are
  /// ignored, so that no clock has to be right. Throws InputError for a name that is empty, too
  /// long or not UTF-8.
  static Identity of(const Token& token, std::string_view name, const Origin& origin);
  /// The same member with another token of its run. It keeps its key, so whoever knows it still
  /// does.
  Identity renewed(const Token& token) const;
  /// Accepts the holder of this key from now on, whatever its token; so do all that were or will be
  /// renewed from this one.
  void know(const PublicKey& key) const;
  /// PEM files of somebody's own authority. The certificate may bring its chain along, and the file
  /// of the authority lists of revoked certificates. Everything is verified here, dates included;
  /// throws InputError.
  static Identity own_pki(const std::filesystem::path& certificate,
                          const std::filesystem::path& key, const std::filesystem::path& authority);
  /// Neither secret nor verified; sockets with it stay on this machine.
  static Identity plaintext() { return {}; }

  bool encrypted() const { return context_ != nullptr; }
  ssl_ctx_st* context() const { return context_.get(); }
  /// Why somebody with another certificate does not belong here, in a few words.
  const std::string& stranger() const { return stranger_; }
  /// Whether a token is the run's authority.
  bool is_by_token() const { return self_ != nullptr; }

 private:
  /// What stays the same under all tokens.
  struct Self {
    std::string name;
    Origin origin{};
    std::shared_ptr<evp_pkey_st> key;
    std::set<PublicKey> known;
  };
  Identity() = default;
  static Identity of(const Token& token, std::shared_ptr<Self> self);
  static int accept_known(int accepted, x509_store_ctx_st* verification);

  std::shared_ptr<Self> self_;  // before the context, which refers to it
  std::shared_ptr<ssl_ctx_st> context_;
  std::string stranger_;
};

}  // namespace dasgd::tcp
