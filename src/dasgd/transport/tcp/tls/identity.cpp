#include "dasgd/transport/tcp/tls/identity.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

#include "dasgd/base/input_error.hpp"
#include "dasgd/base/utf8.hpp"
#include "dasgd/transport/tcp/tls/certificates.hpp"

namespace dasgd::tcp {
namespace {

constexpr long most_certificates = 32 << 10;  // bytes of a chain that a stranger may send
constexpr int must_have_certificate = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
constexpr std::size_t read_buffer = 256 << 10;  // several records at a time

std::shared_ptr<SSL_CTX> strict_context() {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  require_ssl(context != nullptr, "a TLS context");
  SSL_CTX* const c = context.get();
  // AES-128 first: with it and as many links as members have, encrypting is what sending costs.
  require_ssl(SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) == 1 &&
                  SSL_CTX_set_max_proto_version(c, TLS1_3_VERSION) == 1 &&
                  SSL_CTX_set_ciphersuites(c,
                                           "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                           "TLS_CHACHA20_POLY1305_SHA256") == 1 &&
                  SSL_CTX_set_num_tickets(c, 0) == 1,
              "TLS 1.3");
  SSL_CTX_set_options(c,
                      SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_max_cert_list(c, most_certificates);
  SSL_CTX_set_read_ahead(c, 1);
  SSL_CTX_set_default_read_buffer_len(c, read_buffer);
  SSL_CTX_set_verify(c, must_have_certificate, nullptr);
  return context;
}

bool has_revocations(X509_STORE* store) {
  const STACK_OF(X509_OBJECT)* const objects = X509_STORE_get0_objects(store);
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i)
    if (X509_OBJECT_get_type(sk_X509_OBJECT_value(objects, i)) == X509_LU_CRL) return true;
  return false;
}

// Why others would not accept the certificate of this context, as what it is used for; empty if
// they do.
std::string flaw(SSL_CTX* context, int purpose) {
  const std::unique_ptr<X509_STORE_CTX, FreedBy<X509_STORE_CTX_free>> verification(
      X509_STORE_CTX_new());
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(context, &chain);
  require_ssl(
      verification && X509_STORE_CTX_init(verification.get(), SSL_CTX_get_cert_store(context),
                                          SSL_CTX_get0_certificate(context), chain) == 1,
      "verifying a certificate");
  X509_STORE_CTX_set_purpose(verification.get(), purpose);
  if (X509_verify_cert(verification.get()) == 1) return "";
  ERR_clear_error();
  return X509_verify_cert_error_string(X509_STORE_CTX_get_error(verification.get()));
}

// OpenSSL has no words for a file that is not there or holds nothing. Nothing is read: it may be a
// pipe.
void require_content(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) { throw InputError(path.string() + ": " + why); };
  if (::access(path.c_str(), R_OK) != 0) refuse(std::generic_category().message(errno));
  if (std::filesystem::is_directory(path)) refuse("is a directory");
  if (std::filesystem::is_regular_file(path) && std::filesystem::is_empty(path)) refuse("is empty");
}

void require_file(bool well, const std::filesystem::path& path, const char* what) {
  if (well) return;
  throw InputError(
      fmt::format("{}: holds no {} in PEM form: {}", path.string(), what, take_ssl_error()));
}

// A key without a passphrase: nobody is asked for one.
int no_passphrase(char*, int, int, void*) { return 0; }

}  // namespace

Identity Identity::of(const Token& token, std::string_view name, const Origin& origin) {
  if (name.empty() || name.size() > most_name || !is_utf8(name))
    throw InputError(fmt::format("a name has 1 to {} bytes of text; choose another", most_name));
  const auto self = std::make_shared<Self>(Self{std::string(name), origin, make_key(), {}});
  return of(token, self);
}

Identity Identity::renewed(const Token& token) const { return of(token, self_); }

void Identity::know(const PublicKey& key) const {
  if (self_) self_->known.insert(key);
}

int Identity::accept_known(int accepted, X509_STORE_CTX* verification) {
  if (accepted) return 1;
  const auto* const ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* const self = static_cast<const Self*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const auto key = name_in(X509_STORE_CTX_get0_cert(verification)).key;
  if (!key || !self->known.contains(*key)) return 0;
  X509_STORE_CTX_set_error(verification, X509_V_OK);
  return 1;
}

Identity Identity::of(const Token& token, std::shared_ptr<Self> self) {
  const Certified authority = make_authority(token);
  const CertificatePtr member = make_member(authority, self->name, self->origin, self->key.get());
  Identity identity;
  identity.self_ = std::move(self);
  identity.context_ = strict_context();
  identity.stranger_ = "it has another token";
  SSL_CTX* const context = identity.context_.get();
  require_ssl(
      SSL_CTX_use_certificate(context, member.get()) == 1 &&
          SSL_CTX_use_PrivateKey(context, identity.self_->key.get()) == 1 &&
          SSL_CTX_set_app_data(context, identity.self_.get()) == 1 &&
          X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.certificate.get()) == 1,
      "a certificate");
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_NO_CHECK_TIME);
  SSL_CTX_set_verify(context, must_have_certificate, accept_known);
  return identity;
}

Identity Identity::own_pki(const std::filesystem::path& certificate,
                           const std::filesystem::path& key,
                           const std::filesystem::path& authority) {
  Identity identity;
  identity.context_ = strict_context();
  identity.stranger_ = "its certificate is not of our authority";
  SSL_CTX* const context = identity.context_.get();
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  ERR_clear_error();
  for (const auto& file : {certificate, key, authority}) require_content(file);
  require_file(SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) == 1, certificate,
               "certificate");
  const bool has_key = SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) == 1;
  const bool of_another = !has_key && ERR_GET_LIB(ERR_peek_error()) == ERR_LIB_X509;
  require_file(has_key || of_another, key, "key without a passphrase");
  // A key of another kind than the certificate's is taken at first.
  if (of_another || SSL_CTX_check_private_key(context) != 1)
    throw InputError(fmt::format("{}: is not the key of {}", key.string(), certificate.string()));
  require_file(SSL_CTX_load_verify_file(context, authority.c_str()) == 1, authority,
               "certificate of an authority");
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  if (has_revocations(store)) X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
  for (const int purpose : {X509_PURPOSE_SSL_SERVER, X509_PURPOSE_SSL_CLIENT})
    if (const std::string why = flaw(context, purpose); !why.empty())
      throw InputError(
          fmt::format("{}: others with {} would not accept this certificate ({}): {}",
                      certificate.string(), authority.string(),
                      purpose == X509_PURPOSE_SSL_SERVER ? "as a server" : "as a client", why));
  return identity;
}

}  // namespace dasgd::tcp
