#ifndef REACH_CCURL_H
#define REACH_CCURL_H

#define CURL_DISABLE_TYPECHECK 1
#if !__has_include(<curl/curl.h>)
#error "libcurl is missing: install libcurl4-openssl-dev (Debian), libcurl-devel (Fedora) or curl (Arch)"
#endif
#include <curl/curl.h>
#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL is missing: install libssl-dev (Debian), openssl-devel (Fedora) or openssl (Arch)"
#endif
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "reach_decode.h"

/* libcurl and OpenSSL are loaded at their first use: with their dependencies they are thirty libraries, 7 MiB and some
 * milliseconds, and a daemon that has nothing to send needs none of them.
 *
 * Loads them, once. Returns NULL, or the dynamic linker's message; then no other function of them may be called, or the
 * process aborts with that message. From any thread. */
const char *reach_curl_missing(void);

/* curl_easy_setopt and its like are variadic, which Swift cannot call: one typed function per kind of argument. */

static inline CURLcode reach_curl_set_long(CURL *h, CURLoption o, long v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode reach_curl_set_size(CURL *h, CURLoption o, curl_off_t v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode reach_curl_set_string(CURL *h, CURLoption o, const char *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode reach_curl_set_list(CURL *h, CURLoption o, struct curl_slist *v)
{
    return curl_easy_setopt(h, o, v);
}
static inline CURLcode reach_curl_set_pointer(CURL *h, CURLoption o, void *v) { return curl_easy_setopt(h, o, v); }
/* libcurl keeps a copy. */
static inline CURLcode reach_curl_set_bytes(CURL *h, CURLoption o, const void *bytes, size_t count)
{
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(h, o, &blob);
}
/* For CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION and CURLOPT_READFUNCTION, which have the same type. */
static inline CURLcode reach_curl_set_data(CURL *h, CURLoption o, curl_write_callback f)
{
    return curl_easy_setopt(h, o, f);
}
static inline CURLcode reach_curl_set_seek(CURL *h, curl_seek_callback f)
{
    return curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, f);
}
static inline CURLcode reach_curl_set_open_socket(CURL *h, curl_opensocket_callback f)
{
    return curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, f);
}
static inline CURLcode reach_curl_set_socket_options(CURL *h, curl_sockopt_callback f)
{
    return curl_easy_setopt(h, CURLOPT_SOCKOPTFUNCTION, f);
}
static inline CURLcode reach_curl_set_close_socket(CURL *h, curl_closesocket_callback f)
{
    return curl_easy_setopt(h, CURLOPT_CLOSESOCKETFUNCTION, f);
}
static inline CURLcode reach_curl_set_before_request(CURL *h, curl_prereq_callback f)
{
    return curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, f);
}
static inline CURLcode reach_curl_set_debug(CURL *h, curl_debug_callback f)
{
    return curl_easy_setopt(h, CURLOPT_DEBUGFUNCTION, f);
}
static inline CURLcode reach_curl_set_tls_context(CURL *h, curl_ssl_ctx_callback f)
{
    return curl_easy_setopt(h, CURLOPT_SSL_CTX_FUNCTION, f);
}

static inline CURLcode reach_curl_get_long(CURL *h, CURLINFO i, long *v) { return curl_easy_getinfo(h, i, v); }

static inline CURLMcode reach_multi_set_socket(CURLM *m, curl_socket_callback f, void *context)
{
    CURLMcode code = curl_multi_setopt(m, CURLMOPT_SOCKETDATA, context);
    return code != CURLM_OK ? code : curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, f);
}
static inline CURLMcode reach_multi_set_timer(CURLM *m, curl_multi_timer_callback f, void *context)
{
    CURLMcode code = curl_multi_setopt(m, CURLMOPT_TIMERDATA, context);
    return code != CURLM_OK ? code : curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, f);
}
static inline CURLMcode reach_multi_set_long(CURLM *m, CURLMoption o, long v) { return curl_multi_setopt(m, o, v); }

/* Closes a socket, and opens one whose peer has hung up under the same number: libcurl then finds its connection
   dead. */
void reach_socket_sever(int socket);
/* Whether the other end sends nothing more, or, where nothing should come, something came. */
int reach_socket_has_ended(int socket, int nothing_should_come);

/* The fields of a CURLMsg's union. */
static inline CURLcode reach_message_result(const CURLMsg *message) { return message->data.result; }

/* Macros of curl.h and OpenSSL that Swift cannot import. */

static const long REACH_CURL_GLOBAL_DEFAULT = CURL_GLOBAL_DEFAULT;
static inline const curl_version_info_data *reach_curl_version(void) { return curl_version_info(CURLVERSION_NOW); }
static const long REACH_CURL_TLS_1_2 = CURL_SSLVERSION_TLSv1_2;
/* Whether an attempt's connection has HTTP/2, by its TLS handshake. */
static inline int reach_curl_has_http2(CURL *h)
{
    const struct curl_tlssessioninfo *tls = NULL;
    const unsigned char *protocol = NULL;
    unsigned length = 0;
    if (curl_easy_getinfo(h, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || tls == NULL || tls->internals == NULL)
        return 0;
    SSL_get0_alpn_selected(tls->internals, &protocol, &length);
    return length == 2 && protocol[0] == 'h' && protocol[1] == '2';
}

/* Whether a server's certificates are read: the message with them, without its header. */
typedef int reach_certificate_reader(const unsigned char *message, size_t count, int is_tls13, void *context);
/* Bounds what a server may ask for in a handshake, of which there is one for each connection: no key exchange in finite fields,
 * no longer message with certificates, and none that `reader` does not want. What the system forbids stays forbidden. */
void reach_tls_bound_handshake(SSL_CTX *context, long certificate_bytes, reach_certificate_reader *reader, void *reader_context);

/* The object for which a context makes connections. Returns 0 if there is no memory. */
int reach_tls_set_owner(SSL_CTX *context, void *owner);
void *reach_tls_owner(const SSL *connection);

/* Has a read of `from` wait until its socket is readable. */
static inline void reach_bio_retry_read(BIO *from) { BIO_set_retry_read(from); }

static inline int reach_x509_count(const STACK_OF(X509) *chain) { return chain == NULL ? 0 : sk_X509_num(chain); }
static inline X509 *reach_x509_at(const STACK_OF(X509) *chain, int index) { return sk_X509_value(chain, index); }
/* A list of certificates, which it does not own. */
static inline STACK_OF(X509) *reach_x509_list(void) { return sk_X509_new_null(); }
static inline int reach_x509_append(STACK_OF(X509) *list, X509 *certificate) { return sk_X509_push(list, certificate); }
static inline void reach_x509_list_free(STACK_OF(X509) *list) { sk_X509_free(list); }
/* Revocation lists, which it owns. */
static inline STACK_OF(X509_CRL) *reach_x509_crl_list(void) { return sk_X509_CRL_new_null(); }
static inline int reach_x509_crl_append(STACK_OF(X509_CRL) *list, X509_CRL *crl) { return sk_X509_CRL_push(list, crl); }
static inline void reach_x509_crl_list_free(STACK_OF(X509_CRL) *list) { sk_X509_CRL_pop_free(list, X509_CRL_free); }
/* Names of the subject's are no names of hosts (RFC 9525), and a wildcard stands for a whole label. */
static const unsigned int REACH_X509_CHECK_NAMES = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
static inline int reach_names_count(const GENERAL_NAMES *names)
{
    return names == NULL ? 0 : sk_GENERAL_NAME_num(names);
}
static inline const GENERAL_NAME *reach_name_at(const GENERAL_NAMES *names, int index)
{
    return sk_GENERAL_NAME_value(names, index);
}
/* The bytes of a DNS name or an address of a certificate. Returns its type (GEN_DNS, GEN_IPADD), or -1 for others. */
static inline int reach_name_bytes(const GENERAL_NAME *name, const unsigned char **bytes, int *count)
{
    if (name->type != GEN_DNS && name->type != GEN_IPADD)
        return -1;
    const ASN1_STRING *text = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
    *bytes = ASN1_STRING_get0_data(text);
    *count = ASN1_STRING_length(text);
    return name->type;
}
static inline void reach_names_free(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }
static inline long reach_memory_text(BIO *memory, char **text) { return BIO_get_mem_data(memory, text); }
static inline int reach_print_name(BIO *to, const X509_NAME *name)
{
    return X509_NAME_print_ex(to, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

#endif
