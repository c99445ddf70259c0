// The only door to OpenSSL: for the sources of this folder.
#pragma once

#include <memory>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdexcept>
#include <string>

namespace dasgd::tcp {

template <auto free>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, FreedBy<X509_free>>;
using SslPtr = std::unique_ptr<SSL, FreedBy<SSL_free>>;

/// The oldest error that OpenSSL has on this thread, in its words; all are forgotten.
inline std::string take_ssl_error() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = code ? ERR_reason_error_string(code) : nullptr;
  return reason ? reason : "unknown error";
}

/// Throws unless OpenSSL says that `what` went well: this happens when memory is short or the
/// library lacks what it is asked for.
inline void require_ssl(bool well, const char* what) {
  if (!well) throw std::runtime_error(std::string("OpenSSL: ") + what + ": " + take_ssl_error());
}

}  // namespace dasgd::tcp
