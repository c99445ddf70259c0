// Certificates that are made in memory.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dasgd/transport/tcp/tls/identity.hpp"
#include "dasgd/transport/tcp/tls/openssl.hpp"

namespace dasgd::tcp {

struct Certified {
  CertificatePtr certificate;
  KeyPtr key;
};

/// The authority of a run, the same to the bit wherever it is made from the same token.
Certified make_authority(const Token& token);
/// A fresh one.
KeyPtr make_key();
/// A certificate for a key, signed by the authority.
CertificatePtr make_member(const Certified& authority, std::string_view name, const Origin& origin,
                           EVP_PKEY* key);
/// What the certificate says; damaged texts count as absent.
PeerName name_in(const X509* certificate);

/// A few bytes for a person, in hexadecimal digits.
std::string hex(std::span<const std::byte> bytes);

}  // namespace dasgd::tcp
