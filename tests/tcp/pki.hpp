// Certificates of an authority that dasgd has not made.
#pragma once

#include <ctime>
#include <initializer_list>
#include <map>
#include <memory>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdexcept>
#include <string>

#include "support/temporary_directory.hpp"

namespace dasgd::test {

constexpr long day = 24 * 60 * 60;

struct Dates {
  long from = -day, until = day;  // seconds from now
};

/// An authority and what it certifies, as PEM files in a directory.
class Pki {
 public:
  explicit Pki(const TemporaryDirectory& directory, const std::string& name)
      : directory_(directory), name_(name), key_(make_key()) {
    certificate_ = make(name + " authority", key_.get(), nullptr, {}, "CA:TRUE", nullptr);
    write("authority", [&](BIO* out) { PEM_write_bio_X509(out, certificate_.get()); });
  }

  std::string authority() const { return path("authority"); }
  std::string certificate(const std::string& member) const { return path(member + ".crt"); }
  std::string key(const std::string& member) const { return path(member + ".key"); }

  void certify(const std::string& member, Dates dates = {}, const char* use = nullptr) {
    const Key key = make_key();
    const Certificate made = make(member, key.get(), certificate_.get(), dates, "CA:FALSE", use);
    write(member + ".crt", [&](BIO* out) { PEM_write_bio_X509(out, made.get()); });
    write(member + ".key", [&](BIO* out) {
      PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    serials_[member] = serial_;
  }

  /// A key of another kind than all others; returns its file.
  std::string add_rsa_key(const std::string& member) {
    const Key key(EVP_RSA_gen(2048), EVP_PKEY_free);
    write(member + ".key", [&](BIO* out) {
      PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return this->key(member);
  }

  /// Puts a list of revoked members into the file of the authority.
  void revoke(std::initializer_list<std::string> members) {
    const std::unique_ptr<X509_CRL, decltype(&X509_CRL_free)> list(X509_CRL_new(), X509_CRL_free);
    X509_CRL_set_version(list.get(), 1);
    X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(certificate_.get()));
    const std::unique_ptr<ASN1_TIME, decltype(&ASN1_TIME_free)> from(X509_gmtime_adj(nullptr, -day),
                                                                     ASN1_TIME_free),
        until(X509_gmtime_adj(nullptr, day), ASN1_TIME_free);
    X509_CRL_set1_lastUpdate(list.get(), from.get());
    X509_CRL_set1_nextUpdate(list.get(), until.get());
    for (const std::string& member : members) {
      X509_REVOKED* const entry = X509_REVOKED_new();
      const std::unique_ptr<ASN1_INTEGER, decltype(&ASN1_INTEGER_free)> serial(ASN1_INTEGER_new(),
                                                                               ASN1_INTEGER_free);
      ASN1_INTEGER_set(serial.get(), serials_.at(member));
      X509_REVOKED_set_serialNumber(entry, serial.get());
      X509_REVOKED_set_revocationDate(entry, from.get());
      X509_CRL_add0_revoked(list.get(), entry);
    }
    if (X509_CRL_sign(list.get(), key_.get(), EVP_sha256()) <= 0)
      throw std::runtime_error("a list of revoked certificates cannot be signed");
    write("authority", [&](BIO* out) {
      PEM_write_bio_X509(out, certificate_.get());
      PEM_write_bio_X509_CRL(out, list.get());
    });
  }

 private:
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

  static Key make_key() { return {EVP_EC_gen("P-256"), EVP_PKEY_free}; }

  std::string path(const std::string& file) const { return directory_.file(name_ + "-" + file); }
  template <typename Write>
  void write(const std::string& file, Write&& content) const {
    BIO* const out = BIO_new_file(path(file).c_str(), "w");
    content(out);
    BIO_free(out);
  }

  Certificate make(const std::string& name, EVP_PKEY* key, X509* issuer, Dates dates,
                   const char* constraints, const char* use) {
    Certificate made(X509_new(), X509_free);
    X509* const x = made.get();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(x), dates.from);
    X509_gmtime_adj(X509_getm_notAfter(x), dates.until);
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.data()),
                               static_cast<int>(name.size()), -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(issuer ? issuer : x));
    extend(x, NID_basic_constraints, constraints);
    if (use) extend(x, NID_ext_key_usage, use);
    if (X509_sign(x, issuer ? key_.get() : key, EVP_sha256()) <= 0)
      throw std::runtime_error("a certificate cannot be signed");
    return made;
  }
  static void extend(X509* x, int kind, const char* value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
  }

  const TemporaryDirectory& directory_;
  const std::string name_;
  Key key_;
  long serial_ = 0;
  std::map<std::string, long> serials_;
  Certificate certificate_{nullptr, X509_free};
};

}  // namespace dasgd::test
