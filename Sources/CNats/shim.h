#ifndef REACH_CNATS_SHIM_H
#define REACH_CNATS_SHIM_H

#if !__has_include(<nats/nats.h>)
#error "libnats is missing: apt-get install libnats-dev"
#endif
#if !__has_include(<openssl/evp.h>)
#error "OpenSSL is missing: apt-get install libssl-dev"
#endif
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

#endif
