/* The functions of libcurl and OpenSSL that reach uses, bound at their first call. The declarations are those of the
 * headers; each name is defined by a function of this file, hidden from other libraries, which calls through a pointer.
 * The linker reports a function that is missing here. */

#include "CCurl.h"

#include "reach_late.h"

#include <stdarg.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define TEXT_OF(number) #number
#define LIBRARY_OF(name, number) "lib" name ".so." TEXT_OF(number)

typedef void message_callback(int, int, int, const void *, size_t, SSL *, void *);
typedef int security_callback(const SSL *, const SSL_CTX *, int, int, int, void *, void *);

/* FUNCTION(library, result, name, parameters, arguments) */
#define FUNCTIONS                                                                                                      \
    FUNCTION(CURL_LIBRARY, void, curl_easy_cleanup, (CURL * a), (a))                                                   \
    FUNCTION(CURL_LIBRARY, CURL *, curl_easy_init, (void), ())                                                         \
    FUNCTION(CURL_LIBRARY, CURLcode, curl_easy_pause, (CURL * a, int b), (a, b))                                       \
    FUNCTION(CURL_LIBRARY, void, curl_easy_reset, (CURL * a), (a))                                                     \
    FUNCTION(CURL_LIBRARY, const char *, curl_easy_strerror, (CURLcode a), (a))                                        \
    FUNCTION(CURL_LIBRARY, void, curl_free, (void *a), (a))                                                            \
    FUNCTION(CURL_LIBRARY, CURLcode, curl_global_init, (long a), (a))                                                  \
    FUNCTION(CURL_LIBRARY, CURLMcode, curl_multi_add_handle, (CURLM * a, CURL * b), (a, b))                            \
    FUNCTION(CURL_LIBRARY, CURLMcode, curl_multi_cleanup, (CURLM * a), (a))                                            \
    FUNCTION(CURL_LIBRARY, CURLMsg *, curl_multi_info_read, (CURLM * a, int *b), (a, b))                               \
    FUNCTION(CURL_LIBRARY, CURLM *, curl_multi_init, (void), ())                                                       \
    FUNCTION(CURL_LIBRARY, CURLMcode, curl_multi_remove_handle, (CURLM * a, CURL * b), (a, b))                         \
    FUNCTION(CURL_LIBRARY, CURLMcode, curl_multi_socket_action, (CURLM * a, curl_socket_t b, int c, int *d),           \
             (a, b, c, d))                                                                                             \
    FUNCTION(CURL_LIBRARY, const char *, curl_multi_strerror, (CURLMcode a), (a))                                      \
    FUNCTION(CURL_LIBRARY, struct curl_slist *, curl_slist_append, (struct curl_slist * a, const char *b), (a, b))     \
    FUNCTION(CURL_LIBRARY, void, curl_slist_free_all, (struct curl_slist * a), (a))                                    \
    FUNCTION(CURL_LIBRARY, curl_version_info_data *, curl_version_info, (CURLversion a), (a))                          \
    FUNCTION(TLS_LIBRARY, void, SSL_CTX_set_cert_store, (SSL_CTX * a, X509_STORE * b), (a, b))                         \
    FUNCTION(TLS_LIBRARY, void, SSL_CTX_set_cert_verify_callback,                                                      \
             (SSL_CTX * a, int (*b)(X509_STORE_CTX *, void *), void *c), (a, b, c))                                    \
    FUNCTION(TLS_LIBRARY, uint64_t, SSL_CTX_set_options, (SSL_CTX * a, uint64_t b), (a, b))                            \
    FUNCTION(TLS_LIBRARY, void, SSL_CTX_set_info_callback, (SSL_CTX * a, void (*b)(const SSL *, int, int)), (a, b))    \
    FUNCTION(TLS_LIBRARY, int, SSL_CTX_set_ex_data, (SSL_CTX * a, int b, void *c), (a, b, c))                          \
    FUNCTION(TLS_LIBRARY, security_callback *, SSL_CTX_get_security_callback, (const SSL_CTX *a), (a))                 \
    FUNCTION(TLS_LIBRARY, void, SSL_CTX_set_security_callback, (SSL_CTX * a, security_callback * b), (a, b))           \
    FUNCTION(TLS_LIBRARY, void, SSL_CTX_set_msg_callback, (SSL_CTX * a, message_callback * b), (a, b))                 \
    FUNCTION(TLS_LIBRARY, void, SSL_CTX_set0_security_ex_data, (SSL_CTX * a, void *b), (a, b))                         \
    FUNCTION(TLS_LIBRARY, long, SSL_CTX_ctrl, (SSL_CTX * a, int b, long c, void *d), (a, b, c, d))                     \
    FUNCTION(TLS_LIBRARY, int, SSL_CIPHER_get_kx_nid, (const SSL_CIPHER *a), (a))                                      \
    FUNCTION(TLS_LIBRARY, void *, SSL_CTX_get_ex_data, (const SSL_CTX *a, int b), (a, b))                              \
    FUNCTION(TLS_LIBRARY, SSL_CTX *, SSL_get_SSL_CTX, (const SSL *a), (a))                                             \
    FUNCTION(TLS_LIBRARY, BIO *, SSL_get_rbio, (const SSL *a), (a))                                                    \
    FUNCTION(TLS_LIBRARY, void, SSL_get0_alpn_selected, (const SSL *a, const unsigned char **b, unsigned *c), (a, b, c))\
    FUNCTION(CRYPTO_LIBRARY, void, BIO_set_callback_ex, (BIO * a, BIO_callback_fn_ex b), (a, b))                       \
    FUNCTION(CRYPTO_LIBRARY, void, BIO_set_callback_arg, (BIO * a, char *b), (a, b))                                   \
    FUNCTION(CRYPTO_LIBRARY, char *, BIO_get_callback_arg, (const BIO *a), (a))                                        \
    FUNCTION(CRYPTO_LIBRARY, void, BIO_set_flags, (BIO * a, int b), (a, b))                                            \
    FUNCTION(CRYPTO_LIBRARY, int, CRYPTO_get_ex_new_index,                                                             \
             (int a, long b, void *c, CRYPTO_EX_new *d, CRYPTO_EX_dup *e, CRYPTO_EX_free *f), (a, b, c, d, e, f))      \
    FUNCTION(CRYPTO_LIBRARY, const unsigned char *, ASN1_STRING_get0_data, (const ASN1_STRING *a), (a))                \
    FUNCTION(CRYPTO_LIBRARY, int, ASN1_STRING_length, (const ASN1_STRING *a), (a))                                     \
    FUNCTION(CRYPTO_LIBRARY, int, ASN1_TIME_to_tm, (const ASN1_TIME *a, struct tm *b), (a, b))                         \
    FUNCTION(CRYPTO_LIBRARY, long, BIO_ctrl, (BIO * a, int b, long c, void *d), (a, b, c, d))                          \
    FUNCTION(CRYPTO_LIBRARY, int, BIO_free, (BIO * a), (a))                                                            \
    FUNCTION(CRYPTO_LIBRARY, BIO *, BIO_new, (const BIO_METHOD *a), (a))                                               \
    FUNCTION(CRYPTO_LIBRARY, const BIO_METHOD *, BIO_s_mem, (void), ())                                                \
    FUNCTION(CRYPTO_LIBRARY, void, CRYPTO_free, (void *a, const char *b, int c), (a, b, c))                            \
    FUNCTION(CRYPTO_LIBRARY, int, EVP_Digest,                                                                          \
             (const void *a, size_t b, unsigned char *c, unsigned int *d, const EVP_MD *e, ENGINE *f),                 \
             (a, b, c, d, e, f))                                                                                       \
    FUNCTION(CRYPTO_LIBRARY, const EVP_MD *, EVP_md5, (void), ())                                                      \
    FUNCTION(CRYPTO_LIBRARY, const EVP_MD *, EVP_sha256, (void), ())                                                   \
    FUNCTION(CRYPTO_LIBRARY, const EVP_MD *, EVP_sha512_256, (void), ())                                               \
    FUNCTION(CRYPTO_LIBRARY, void, GENERAL_NAMES_free, (GENERAL_NAMES * a), (a))                                       \
    FUNCTION(CRYPTO_LIBRARY, int, OPENSSL_sk_num, (const OPENSSL_STACK *a), (a))                                       \
    FUNCTION(CRYPTO_LIBRARY, void *, OPENSSL_sk_value, (const OPENSSL_STACK *a, int b), (a, b))                        \
    FUNCTION(CRYPTO_LIBRARY, int, X509_NAME_print_ex, (BIO * a, const X509_NAME *b, int c, unsigned long d),           \
             (a, b, c, d))                                                                                             \
    FUNCTION(CRYPTO_LIBRARY, OPENSSL_STACK *, OPENSSL_sk_new_null, (void), ())                                         \
    FUNCTION(CRYPTO_LIBRARY, int, OPENSSL_sk_push, (OPENSSL_STACK * a, const void *b), (a, b))                         \
    FUNCTION(CRYPTO_LIBRARY, void, OPENSSL_sk_free, (OPENSSL_STACK * a), (a))                                          \
    FUNCTION(CRYPTO_LIBRARY, void, OPENSSL_sk_pop_free, (OPENSSL_STACK * a, OPENSSL_sk_freefunc b), (a, b))            \
    FUNCTION(CRYPTO_LIBRARY, void, X509_CRL_free, (X509_CRL * a), (a))                                                 \
    FUNCTION(CRYPTO_LIBRARY, void, X509_STORE_CTX_free, (X509_STORE_CTX * a), (a))                                     \
    FUNCTION(CRYPTO_LIBRARY, STACK_OF(X509) *, X509_STORE_CTX_get0_untrusted, (const X509_STORE_CTX *a), (a))          \
    FUNCTION(CRYPTO_LIBRARY, int, X509_STORE_CTX_init,                                                                 \
             (X509_STORE_CTX * a, X509_STORE * b, X509 * c, STACK_OF(X509) * d), (a, b, c, d))                         \
    FUNCTION(CRYPTO_LIBRARY, X509_STORE_CTX *, X509_STORE_CTX_new, (void), ())                                         \
    FUNCTION(CRYPTO_LIBRARY, int, X509_STORE_CTX_set_default, (X509_STORE_CTX * a, const char *b), (a, b))             \
    FUNCTION(CRYPTO_LIBRARY, int, X509_check_host,                                                                     \
             (X509 * a, const char *b, size_t c, unsigned int d, char **e), (a, b, c, d, e))                           \
    FUNCTION(CRYPTO_LIBRARY, int, X509_check_ip_asc, (X509 * a, const char *b, unsigned int c), (a, b, c))             \
    FUNCTION(CRYPTO_LIBRARY, X509 *, X509_STORE_CTX_get0_cert, (const X509_STORE_CTX *a), (a))                         \
    FUNCTION(CRYPTO_LIBRARY, STACK_OF(X509) *, X509_STORE_CTX_get0_chain, (const X509_STORE_CTX *a), (a))              \
    FUNCTION(CRYPTO_LIBRARY, int, X509_STORE_CTX_get_error, (const X509_STORE_CTX *a), (a))                            \
    FUNCTION(CRYPTO_LIBRARY, void, X509_STORE_CTX_set0_crls, (X509_STORE_CTX * a, STACK_OF(X509_CRL) * b), (a, b))     \
    FUNCTION(CRYPTO_LIBRARY, void, X509_STORE_CTX_set_error, (X509_STORE_CTX * a, int b), (a, b))                      \
    FUNCTION(CRYPTO_LIBRARY, void, X509_STORE_CTX_set_flags, (X509_STORE_CTX * a, unsigned long b), (a, b))            \
    FUNCTION(CRYPTO_LIBRARY, int, X509_STORE_add_cert, (X509_STORE * a, X509 * b), (a, b))                             \
    FUNCTION(CRYPTO_LIBRARY, void, X509_STORE_free, (X509_STORE * a), (a))                                             \
    FUNCTION(CRYPTO_LIBRARY, int, X509_STORE_load_file, (X509_STORE * a, const char *b), (a, b))                       \
    FUNCTION(CRYPTO_LIBRARY, X509_STORE *, X509_STORE_new, (void), ())                                                 \
    FUNCTION(CRYPTO_LIBRARY, int, X509_STORE_set_flags, (X509_STORE * a, unsigned long b), (a, b))                     \
    FUNCTION(CRYPTO_LIBRARY, int, X509_STORE_up_ref, (X509_STORE * a), (a))                                            \
    FUNCTION(CRYPTO_LIBRARY, void, X509_free, (X509 * a), (a))                                                         \
    FUNCTION(CRYPTO_LIBRARY, const ASN1_TIME *, X509_get0_notAfter, (const X509 *a), (a))                              \
    FUNCTION(CRYPTO_LIBRARY, const ASN1_TIME *, X509_get0_notBefore, (const X509 *a), (a))                             \
    FUNCTION(CRYPTO_LIBRARY, X509_PUBKEY *, X509_get_X509_PUBKEY, (const X509 *a), (a))                                \
    FUNCTION(CRYPTO_LIBRARY, void *, X509_get_ext_d2i, (const X509 *a, int b, int *c, int *d), (a, b, c, d))           \
    FUNCTION(CRYPTO_LIBRARY, X509_NAME *, X509_get_issuer_name, (const X509 *a), (a))                                  \
    FUNCTION(CRYPTO_LIBRARY, X509_NAME *, X509_get_subject_name, (const X509 *a), (a))                                 \
    FUNCTION(CRYPTO_LIBRARY, const char *, X509_verify_cert_error_string, (long a), (a))                               \
    FUNCTION(CRYPTO_LIBRARY, int, X509_verify_cert, (X509_STORE_CTX * a), (a))                                         \
    FUNCTION(CRYPTO_LIBRARY, X509_CRL *, d2i_X509_CRL, (X509_CRL * *a, const unsigned char **b, long c), (a, b, c))    \
    FUNCTION(CRYPTO_LIBRARY, X509 *, d2i_X509, (X509 * *a, const unsigned char **b, long c), (a, b, c))                \
    FUNCTION(CRYPTO_LIBRARY, int, i2d_X509, (const X509 *a, unsigned char **b), (a, b))                                \
    FUNCTION(CRYPTO_LIBRARY, int, i2d_X509_PUBKEY, (const X509_PUBKEY *a, unsigned char **b), (a, b))

/* These three take one more argument, whose type depends on the option. */
#define SPECIAL_FUNCTIONS                                                                                              \
    FUNCTION(CURL_LIBRARY, CURLcode, curl_easy_getinfo, , )                                                            \
    FUNCTION(CURL_LIBRARY, CURLcode, curl_easy_setopt, , )                                                             \
    FUNCTION(CURL_LIBRARY, CURLMcode, curl_multi_setopt, , )

static struct {
#define FUNCTION(library, result, name, parameters, arguments) __typeof__(&name) name;
    FUNCTIONS SPECIAL_FUNCTIONS
#undef FUNCTION
} late;

static const char CURL_LIBRARY[] = "libcurl.so.4";
/* The version of OpenSSL that these headers belong to, which must be libcurl's. */
static const char TLS_LIBRARY[] = LIBRARY_OF("ssl", OPENSSL_SHLIB_VERSION);
static const char CRYPTO_LIBRARY[] = LIBRARY_OF("crypto", OPENSSL_SHLIB_VERSION);

static const struct reach_late_function functions[] = {
#define FUNCTION(library, result, name, parameters, arguments) {library, #name, &late.name},
    FUNCTIONS SPECIAL_FUNCTIONS
#undef FUNCTION
};

static char missing[256];

static void load(void)
{
    reach_bind_late(functions, sizeof functions / sizeof functions[0], missing, sizeof missing);
}

REACH_LATE_DOOR(reach_curl_missing, "libcurl")

/* The functions are hidden: otherwise libcurl and OpenSSL would call these instead of their own. */

#define FUNCTION(library, result, name, parameters, arguments)                                                         \
    __attribute__((visibility("hidden"))) result name parameters                                                       \
    {                                                                                                                  \
        need();                                                                                                        \
        return late.name arguments;                                                                                    \
    }
FUNCTIONS
#undef FUNCTION

__attribute__((visibility("hidden"))) CURLcode curl_easy_getinfo(CURL *handle, CURLINFO info, ...)
{
    need();
    va_list arguments;
    va_start(arguments, info);
    void *value = va_arg(arguments, void *);
    va_end(arguments);
    return late.curl_easy_getinfo(handle, info, value);
}

__attribute__((visibility("hidden"))) CURLcode curl_easy_setopt(CURL *handle, CURLoption option, ...)
{
    need();
    CURLcode code;
    va_list arguments;
    va_start(arguments, option);
    if (option < CURLOPTTYPE_OBJECTPOINT)
        code = late.curl_easy_setopt(handle, option, va_arg(arguments, long));
    else if (option >= CURLOPTTYPE_OFF_T && option < CURLOPTTYPE_BLOB)
        code = late.curl_easy_setopt(handle, option, va_arg(arguments, curl_off_t));
    else
        code = late.curl_easy_setopt(handle, option, va_arg(arguments, void *));
    va_end(arguments);
    return code;
}

__attribute__((visibility("hidden"))) CURLMcode curl_multi_setopt(CURLM *handle, CURLMoption option, ...)
{
    need();
    CURLMcode code;
    va_list arguments;
    va_start(arguments, option);
    if (option < CURLOPTTYPE_OBJECTPOINT)
        code = late.curl_multi_setopt(handle, option, va_arg(arguments, long));
    else
        code = late.curl_multi_setopt(handle, option, va_arg(arguments, void *));
    va_end(arguments);
    return code;
}
