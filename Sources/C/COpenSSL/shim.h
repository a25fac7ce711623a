// SPDX-License-Identifier: Apache-2.0
// Macros and variadic functions that Swift cannot import. Every shim keeps the name of what it wraps.
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

// EVP_EC_gen is a macro over EVP_PKEY_Q_keygen, which is variadic.
static inline EVP_PKEY *_Nullable relay_EVP_EC_gen_P256(void) { return EVP_EC_gen("P-256"); }
// And so is EVP_RSA_gen.
static inline EVP_PKEY *_Nullable relay_EVP_RSA_gen_2048(void) { return EVP_RSA_gen(2048); }

// BIO_pending is a macro over BIO_ctrl.
static inline size_t relay_BIO_pending(BIO *_Nonnull bio) {
    long count = BIO_ctrl(bio, BIO_CTRL_PENDING, 0, NULL);
    return count > 0 ? (size_t)count : 0;
}

// A password callback that always declines: without a callback, OpenSSL would ask on the terminal (PEM_read_bio_PrivateKey(3)).
static inline int relay_decline_password(char *_Nullable buffer, int size, int writing, void *_Nullable told) {
    (void)buffer; (void)size; (void)writing;
    if (told) *(int *)told = 1;
    return -1;
}
// PEM_read_bio_PrivateKey takes that callback as a pointer. `encrypted` becomes 1 if a password was asked for.
static inline EVP_PKEY *_Nullable relay_PEM_read_bio_PrivateKey(BIO *_Nonnull bio, int *_Nonnull encrypted) {
    return PEM_read_bio_PrivateKey(bio, NULL, relay_decline_password, encrypted);
}
// The password of a protected file; `asked` becomes 1 if OpenSSL asks for it.
typedef struct {
    const void *_Nullable text;
    int length;
    int asked;
} relay_password;
static inline int relay_give_password(char *_Nullable buffer, int size, int writing, void *_Nullable told) {
    relay_password *password = told;
    (void)writing;
    if (!password) return -1;
    password->asked = 1;
    if (!buffer || !password->text || password->length > size) return -1;
    memcpy(buffer, password->text, (size_t)password->length);
    return password->length;
}
// As above, with that password, and with the ciphers of the library context `library`; NULL: the process's own.
static inline EVP_PKEY *_Nullable relay_PEM_read_bio_PrivateKey_ex(BIO *_Nonnull bio, relay_password *_Nonnull password,
                                                                   OSSL_LIB_CTX *_Nullable library) {
    return PEM_read_bio_PrivateKey_ex(bio, NULL, relay_give_password, password, library, NULL);
}
static inline EVP_PKEY *_Nullable relay_PEM_read_bio_PUBKEY(BIO *_Nonnull bio) {
    int ignored = 0;
    return PEM_read_bio_PUBKEY(bio, NULL, relay_decline_password, &ignored);
}

// X509V3_set_ctx_nodb is a macro that writes into X509V3_CTX, and all these calls are needed for one extension.
static inline int relay_X509_add_extension(X509 *_Nonnull certificate, X509 *_Nonnull issuer, int nid,
                                           const char *_Nonnull value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509V3_set_ctx_nodb(&context);
    X509_EXTENSION *extension = X509V3_EXT_nconf_nid(NULL, &context, nid, value);
    if (!extension) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

// An extension that OpenSSL does not know, by its dotted identifier and the DER of its content.
static inline int relay_X509_add_raw_extension(X509 *_Nonnull certificate, const char *_Nonnull identifier,
                                               const unsigned char *_Nonnull content, int length) {
    ASN1_OBJECT *object = OBJ_txt2obj(identifier, 1);
    ASN1_OCTET_STRING *data = ASN1_OCTET_STRING_new();
    X509_EXTENSION *extension = NULL;
    if (object && data && ASN1_OCTET_STRING_set(data, content, length) == 1)
        extension = X509_EXTENSION_create_by_OBJ(NULL, object, 0, data);
    int added = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(data);
    ASN1_OBJECT_free(object);
    return added;
}

// SSL_CTX_set_min_proto_version, SSL_CTX_set_mode and SSL_CTX_set_session_cache_mode are macros over SSL_CTX_ctrl.
static inline int relay_SSL_CTX_set_min_proto_version_TLS1_2(SSL_CTX *_Nonnull context) {
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
static inline void relay_SSL_CTX_set_server_modes(SSL_CTX *_Nonnull context) {
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
// Chooses one of `protocols`, each of which follows its length, the preferred one first (SSL_select_next_proto(3)). A client
// without ALPN is accepted; where no protocol fits, it gets "no_application_protocol" (RFC 7301, section 3.2).
static inline int relay_select_alpn(SSL *_Nonnull ssl, const unsigned char *_Nullable *_Nonnull chosen,
                                    unsigned char *_Nonnull length, const unsigned char *_Nonnull offered,
                                    unsigned int count, void *_Nonnull protocols) {
    const unsigned char *const own = protocols;
    (void)ssl;
    return SSL_select_next_proto((unsigned char **)chosen, length, own, (unsigned int)strlen(protocols), offered, count)
                   == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}
static inline void relay_SSL_CTX_speak(SSL_CTX *_Nonnull context, int http2, int http1) {
    // The literals are divided because a hexadecimal escape includes all hexadecimal digits that follow.
    SSL_CTX_set_alpn_select_cb(context, relay_select_alpn,
                               http2 && http1 ? "\x02h2" "\x08" "http/1.1" : http2 ? "\x02h2" : "\x08" "http/1.1");
}
static inline int relay_SSL_speaks_http2(const SSL *_Nonnull ssl) {
    const unsigned char *name = NULL;
    unsigned int length = 0;
    SSL_get0_alpn_selected(ssl, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}
// Further settings for a server of many connections: idle ones release their buffers, renegotiation is refused, and a client
// that hangs up without close_notify has ended (SSL_CTX_set_options(3)). Resumption is by tickets, which need no memory here.
static inline void relay_SSL_CTX_set_many_connections(SSL_CTX *_Nonnull context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
// SSL_CTX_set1_groups_list is a macro over SSL_CTX_ctrl. 1 for success.
static inline int relay_SSL_CTX_set1_groups_list(SSL_CTX *_Nonnull context, const char *_Nonnull groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}
// SSL_CTX_set_read_ahead is a macro over SSL_CTX_ctrl: one recv then fetches several TLS records.
static inline void relay_SSL_CTX_set_read_ahead(SSL_CTX *_Nonnull context) { SSL_CTX_set_read_ahead(context, 1); }
// A private key from memory; SSL_CTX_use_PrivateKey_file needs a path. Returns 1 if it fits the certificate in use.
static inline int relay_SSL_CTX_use_private_key_pem(SSL_CTX *_Nonnull context, const void *_Nonnull pem, int length) {
    BIO *bio = BIO_new_mem_buf(pem, length);
    if (!bio) return 0;
    int encrypted = 0;
    EVP_PKEY *key = relay_PEM_read_bio_PrivateKey(bio, &encrypted);
    int used = key && SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1;
    EVP_PKEY_free(key);
    BIO_free(bio);
    return used;
}
// SSL_CTX_add0_chain_cert and friends are macros; SSL_CTX_use_certificate_chain_file is not and needs no shim.
// Certificates from memory: the leaf first, then its chain, from one PEM text. 1 if all that could be read were used.
static inline int relay_SSL_CTX_use_certificate_chain_pem(SSL_CTX *_Nonnull context, const void *_Nonnull pem,
                                                          int length) {
    BIO *bio = BIO_new_mem_buf(pem, length);
    if (!bio) return 0;
    X509 *leaf = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    int used = leaf && SSL_CTX_use_certificate(context, leaf) == 1;
    X509_free(leaf);
    while (used) {
        X509 *link = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        if (!link) break;
        if (SSL_CTX_add0_chain_cert(context, link) != 1) {
            X509_free(link);
            used = 0;
        }
    }
    ERR_clear_error();  // The loop ends with "no start line".
    BIO_free(bio);
    return used;
}

// --- PKCS#12 and client certificates

// d2i_PKCS12_bio(3) uses the library context of the object that it fills, as set by PKCS12_init_ex(3). NULL: the process's.
static inline PKCS12 *_Nullable relay_d2i_PKCS12_bio(BIO *_Nonnull bio, OSSL_LIB_CTX *_Nullable library) {
    PKCS12 *file = PKCS12_init_ex(NID_pkcs7_data, library, NULL);
    if (!file) return NULL;
    if (!d2i_PKCS12_bio(bio, &file)) {
        PKCS12_free(file);  // NULL already, unless nothing was read at all.
        return NULL;
    }
    return file;
}
// STACK_OF's functions are macros.
static inline int relay_sk_X509_num(const STACK_OF(X509) *_Nullable list) { return sk_X509_num(list); }
static inline X509 *_Nullable relay_sk_X509_value(const STACK_OF(X509) *_Nullable list, int place) {
    return sk_X509_value(list, place);
}
static inline void relay_sk_X509_free(STACK_OF(X509) *_Nullable list) { sk_X509_pop_free(list, X509_free); }
// Whether one of the thread's errors is that no provider has the algorithm; removes them all.
static inline int relay_ERR_take_unsupported(void) {
    int found = 0;
    unsigned long error;
    while ((error = ERR_get_error()) != 0) found |= ERR_GET_REASON(error) == ERR_R_UNSUPPORTED;
    return found;
}
// SSL_CTX_set_verify(3): "If the verify_callback always returns 1, the TLS/SSL handshake will not be terminated": the
// result stays in SSL_get_verify_result(3), so that the server can explain it in an answer.
static inline int relay_take_any_client(int verified, X509_STORE_CTX *_Nonnull context) {
    (void)verified;
    (void)context;
    return 1;
}
// Asks clients for a certificate of one of these authorities, and accepts them without one, too. 1 for success.
static inline int relay_SSL_CTX_ask_clients(SSL_CTX *_Nonnull context, const void *_Nonnull authorities, int length) {
    BIO *bio = BIO_new_mem_buf(authorities, length);
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    int count = 0;
    X509 *authority;
    if (!bio) return 0;
    while (store && (authority = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        count += X509_STORE_add_cert(store, authority) == 1 && SSL_CTX_add_client_CA(context, authority) == 1;
        X509_free(authority);
    }
    ERR_clear_error();  // The loop ends with "no start line".
    BIO_free(bio);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, relay_take_any_client);
    // Needed where sessions are resumed and clients have certificates (SSL_CTX_set_session_id_context(3)).
    return count > 0 && SSL_CTX_set_session_id_context(context, (const unsigned char *)"relay", 5) == 1;
}
