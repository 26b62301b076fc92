#pragma once
#include <errno.h>
#include <sys/socket.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/proverr.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Macros and variadics that Swift does not see, one plain function each.
static inline EVP_PKEY *copenssl_generate_p256(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *copenssl_generate_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }
// A P-256 key from its point (SEC 1, 2.3.3), compressed or not; NULL unless it is on the curve.
static inline EVP_PKEY *copenssl_p256_public_key(const unsigned char *point, size_t count) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)"prime256v1", 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count),
        OSSL_PARAM_construct_end(),
    };
    if (context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}
// SHA-256 alone. By way of EVP the first digest reads a configuration and sets up a provider with all its algorithms,
// which makes a process that needs no more than digests 2 MB larger. OpenSSL 3 calls these deprecated.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline SHA256_CTX *copenssl_sha256_new(void) {
    SHA256_CTX *context = OPENSSL_malloc(sizeof *context);
    if (context != NULL) SHA256_Init(context);
    return context;
}
static inline void copenssl_sha256_update(SHA256_CTX *context, const void *bytes, size_t count) {
    SHA256_Update(context, bytes, count);
}
static inline void copenssl_sha256_final(SHA256_CTX *context, unsigned char *digest) { SHA256_Final(digest, context); }
static inline void copenssl_sha256_free(SHA256_CTX *context) { OPENSSL_clear_free(context, sizeof *context); }
#pragma clang diagnostic pop
static inline long copenssl_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline void copenssl_secure_free(void *pointer) { OPENSSL_secure_free(pointer); }
static inline void copenssl_secure_clear_free(void *pointer, size_t count) { OPENSSL_secure_clear_free(pointer, count); }
static const unsigned int copenssl_pem_secure = PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE;
// Whether the queued errors of a failed PKCS#8 decryption mean that the passphrase was another one. Empties the queue.
static inline int copenssl_was_wrong_passphrase(void) {
    int wrong = 0;
    for (unsigned long error; (error = ERR_get_error()) != 0;) {
        int library = ERR_GET_LIB(error), reason = ERR_GET_REASON(error);
        wrong |= library == ERR_LIB_PROV && reason == PROV_R_BAD_DECRYPT;
        wrong |= library == ERR_LIB_EVP && reason == EVP_R_BAD_DECRYPT;
        wrong |= library == ERR_LIB_PKCS12 &&
                 (reason == PKCS12_R_PKCS12_CIPHERFINAL_ERROR || reason == PKCS12_R_DECODE_ERROR);
    }
    return wrong;
}
// Whether one of the errors of this thread, all of which are forgotten, is a lack of memory.
static inline int copenssl_lacked_memory(void) {
    int lacked = 0;
    for (unsigned long error; (error = ERR_get_error()) != 0;) lacked |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
    return lacked;
}
static inline void copenssl_free(void *pointer) { OPENSSL_free(pointer); }
static inline int copenssl_set_minimum_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}
static inline long copenssl_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline uint64_t copenssl_set_options(SSL_CTX *context, uint64_t options) {
    return SSL_CTX_set_options(context, options);
}

static inline uint64_t copenssl_server_options(void) {
    return SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE;
}
static inline int copenssl_is_other_key(unsigned long error) {
    return ERR_GET_LIB(error) == ERR_LIB_X509 &&
           (ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH || ERR_GET_REASON(error) == X509_R_KEY_TYPE_MISMATCH);
}
static inline long copenssl_set_server_name(SSL *session, const char *name) {
    return SSL_set_tlsext_host_name(session, name);
}

// An encrypted key file without a passphrase is an error; OpenSSL would ask on the terminal.
static inline int copenssl_no_passphrase(char *buffer, int capacity, int writing, void *context) {
    (void)buffer, (void)capacity, (void)writing, (void)context;
    return -1;
}
static inline void copenssl_never_ask(SSL_CTX *context) {
    SSL_CTX_set_default_passwd_cb(context, copenssl_no_passphrase);
}

// ALPN (RFC 7301): HTTP/1.1 or, when the peer offers only other protocols, a refusal.
static inline int copenssl_choose_http1(SSL *session, const unsigned char **chosen, unsigned char *count,
                                        const unsigned char *offered, unsigned int length, void *context) {
    (void)session, (void)context;
    static const unsigned char ours[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    unsigned char *found;
    if (SSL_select_next_proto(&found, count, ours, sizeof ours, offered, length) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}
static inline void copenssl_speak_http1(SSL_CTX *context) {
    SSL_CTX_set_alpn_select_cb(context, copenssl_choose_http1, NULL);
}

// OpenSSL's own socket BIO calls write(2), which raises SIGPIPE on a connection that the peer has closed.
// This one sends with MSG_NOSIGNAL. It does not own the descriptor.
static inline int copenssl_socket_send(BIO *bio, const char *bytes, int count) {
    ssize_t sent;
    do sent = send((int)(intptr_t)BIO_get_data(bio), bytes, (size_t)count, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    BIO_clear_retry_flags(bio);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_write(bio);
    return (int)sent;
}
static inline int copenssl_socket_receive(BIO *bio, char *bytes, int count) {
    ssize_t received;
    do received = recv((int)(intptr_t)BIO_get_data(bio), bytes, (size_t)count, 0);
    while (received < 0 && errno == EINTR);
    BIO_clear_retry_flags(bio);
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
    if (received == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return (int)received;
}
static inline long copenssl_socket_control(BIO *bio, int command, long number, void *pointer) {
    (void)number, (void)pointer;
    if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    return command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP;
}
static inline BIO_METHOD *copenssl_socket_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
    if (method == NULL) return NULL;
    BIO_meth_set_write(method, copenssl_socket_send);
    BIO_meth_set_read(method, copenssl_socket_receive);
    BIO_meth_set_ctrl(method, copenssl_socket_control);
    return method;
}
static inline BIO *copenssl_socket_new(const BIO_METHOD *method, int socket) {
    BIO *bio = BIO_new(method);
    if (bio == NULL) return NULL;
    BIO_set_data(bio, (void *)(intptr_t)socket);
    BIO_set_init(bio, 1);
    return bio;
}

static const int copenssl_any_salt_length = RSA_PSS_SALTLEN_AUTO;
static const int copenssl_utf8 = MBSTRING_UTF8;
static const int copenssl_top_any = BN_RAND_TOP_ANY;
static const int copenssl_bottom_any = BN_RAND_BOTTOM_ANY;
