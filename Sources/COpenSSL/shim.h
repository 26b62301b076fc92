#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/proverr.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Macros and variadics that Swift does not see, one plain function each.
static inline EVP_PKEY *copenssl_generate_p256(void) { return EVP_EC_gen("P-256"); }
static inline EVP_PKEY *copenssl_generate_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }
static inline long copenssl_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline void copenssl_wipe_and_free(void *pointer, size_t count) { OPENSSL_clear_free(pointer, count); }
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
static inline void copenssl_free(void *pointer) { OPENSSL_free(pointer); }
static inline int copenssl_set_minimum_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}
static inline long copenssl_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline uint64_t copenssl_set_options(SSL_CTX *context, uint64_t options) {
    return SSL_CTX_set_options(context, options);
}
