#include "dasgd/transport/tcp/tls/certificates.hpp"

#include <charconv>
#include <fmt/format.h>
#include <openssl/rand.h>

#include "dasgd/base/utf8.hpp"

namespace dasgd::tcp {
namespace {

constexpr const char* first_day = "19700101000000Z";
constexpr const char* last_day = "99991231235959Z";  // RFC 5280: never ends

void add_text(X509_NAME* name, int field, std::string_view text) {
  require_ssl(X509_NAME_add_entry_by_NID(name, field, MBSTRING_UTF8,
                                         reinterpret_cast<const unsigned char*>(text.data()),
                                         static_cast<int>(text.size()), -1, 0) == 1,
              "a name in a certificate");
}

void add_extension(X509* certificate, int kind, const char* value) {
  const std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  require_ssl(extension && X509_add_ext(certificate, extension.get(), -1) == 1,
              "an extension of a certificate");
}

CertificatePtr begin_certificate(std::uint64_t serial, EVP_PKEY* key) {
  CertificatePtr certificate(X509_new());
  require_ssl(certificate != nullptr, "a certificate");
  X509* const x = certificate.get();
  require_ssl(X509_set_version(x, X509_VERSION_3) == 1 &&
                  ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial) == 1 &&
                  ASN1_TIME_set_string_X509(X509_getm_notBefore(x), first_day) == 1 &&
                  ASN1_TIME_set_string_X509(X509_getm_notAfter(x), last_day) == 1 &&
                  X509_set_pubkey(x, key) == 1,
              "a certificate");
  return certificate;
}

void sign(X509* certificate, EVP_PKEY* key) {  // Ed25519 has its digest built in
  require_ssl(X509_sign(certificate, key, nullptr) > 0, "signing a certificate");
}

std::string text_in(const X509_NAME* name, int field) {
  const int at = X509_NAME_get_index_by_NID(name, field, -1);
  if (at < 0) return "";
  unsigned char* raw = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&raw, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
  if (size < 0) {
    ERR_clear_error();
    return "";
  }
  std::string text(reinterpret_cast<const char*>(raw), static_cast<std::size_t>(size));
  OPENSSL_free(raw);
  return text;
}

std::optional<PublicKey> key_of(const X509* certificate) {
  PublicKey key{};
  std::size_t size = key.size();
  const bool is_one =
      EVP_PKEY_get_raw_public_key(X509_get0_pubkey(certificate),
                                  reinterpret_cast<unsigned char*>(key.data()), &size) == 1 &&
      size == key.size();
  ERR_clear_error();
  return is_one ? std::optional(key) : std::nullopt;
}

std::optional<Origin> origin_of(std::string_view digits) {
  Origin origin{};
  if (digits.size() != 2 * origin.size()) return std::nullopt;
  for (std::size_t i = 0; i < origin.size(); ++i) {
    unsigned char value = 0;
    const char* const end = digits.data() + 2 * i + 2;
    if (std::from_chars(end - 2, end, value, 16).ptr != end) return std::nullopt;
    origin[i] = std::byte{value};
  }
  return origin;
}

}  // namespace

Certified make_authority(const Token& token) {
  const auto secret = token.secret("authority");
  KeyPtr key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                          reinterpret_cast<const unsigned char*>(secret.data()),
                                          secret.size()));
  require_ssl(key != nullptr, "Ed25519");
  CertificatePtr certificate = begin_certificate(1, key.get());
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  add_text(subject, NID_commonName, "dasgd run " + hex(token.run_id()));
  require_ssl(X509_set_issuer_name(certificate.get(), subject) == 1, "a name in a certificate");
  add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(certificate.get(), NID_key_usage, "critical,keyCertSign");
  sign(certificate.get(), key.get());
  return {std::move(certificate), std::move(key)};
}

KeyPtr make_key() {
  KeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  require_ssl(key != nullptr, "a key");
  return key;
}

CertificatePtr make_member(const Certified& authority, std::string_view name, const Origin& origin,
                           EVP_PKEY* key) {
  std::uint64_t serial = 0;
  require_ssl(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1,
              "random bytes");
  CertificatePtr certificate = begin_certificate(serial >> 1 | 2, key);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  add_text(subject, NID_commonName, name);
  add_text(subject, NID_serialNumber, hex(origin));
  require_ssl(X509_set_issuer_name(certificate.get(),
                                   X509_get_subject_name(authority.certificate.get())) == 1,
              "a name in a certificate");
  add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(certificate.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  sign(certificate.get(), authority.key.get());
  return certificate;
}

PeerName name_in(const X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  std::string name = text_in(subject, NID_commonName);
  if (name.size() > Identity::most_name || !is_utf8(name)) name.clear();
  return {std::move(name), origin_of(text_in(subject, NID_serialNumber)), key_of(certificate)};
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

}  // namespace dasgd::tcp
