#ifndef REACH_CNATS_SHIM_H
#define REACH_CNATS_SHIM_H

#if !__has_include(<nats/nats.h>)
#error "libnats is missing: install libnats-dev (Debian) or nats.c"
#endif
#if !__has_include(<openssl/evp.h>)
#error "OpenSSL is missing: install libssl-dev (Debian) or openssl-devel (Fedora)"
#endif
#include <malloc.h>
#include <nats/nats.h>
#include <openssl/evp.h>

/* libnats signs with a seed but cannot make its public half. OpenSSL, which libnats links, can. Returns 1 on success. */
static inline int reach_ed25519_public(const unsigned char seed[32], unsigned char half[32]) {
    size_t length = 32;
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, 32);
    int done = key != NULL && EVP_PKEY_get_raw_public_key(key, half, &length) == 1 && length == 32;
    EVP_PKEY_free(key);
    return done;
}

/* Signs a text. nats_Sign signs what a server asks, with a user's seed only. Returns 1 on success. */
static inline int reach_ed25519_sign(
    const unsigned char seed[32], const unsigned char *text, size_t length, unsigned char signature[64]) {
    size_t size = 64;
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, 32);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int done = key != NULL && context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1
        && EVP_DigestSign(context, signature, &size, text, length) == 1 && size == 64;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return done;
}

/* Whether a signature of 64 bytes is right: 1 if it is. */
static inline int reach_ed25519_verify(
    const unsigned char half[32], const unsigned char *text, size_t length, const unsigned char signature[64]) {
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, half, 32);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int right = key != NULL && context != NULL && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1
        && EVP_DigestVerify(context, signature, 64, text, length) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return right;
}

/* glibc gives libnats' threads heaps of their own and keeps what is freed in them. One heap is enough for a program that waits. */
static inline void reach_use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

#endif
