#include "CCurl.h"

#include <stdatomic.h>
#include <string.h>

typedef int security_callback(const SSL *, const SSL_CTX *, int, int, int, void *, void *);

/* Finite fields: servers choose them in TLS 1.2, up to 10,000 bits, and a key in one takes seconds. Named ones (RFC 7919)
 * take a tenth of that, and browsers have offered neither for years. */
static int is_finite_field(int operation, void *what)
{
    switch (operation & SSL_SECOP_OTHER_TYPE) {
    case SSL_SECOP_OTHER_CIPHER: {
        const int exchange = what == NULL ? NID_undef : SSL_CIPHER_get_kx_nid(what);
        return exchange == NID_kx_dhe || exchange == NID_kx_dhe_psk;
    }
    case SSL_SECOP_OTHER_CURVE:
        /* The number of the group in the handshake: ffdhe2048 is 0x100. */
        return what != NULL && ((const unsigned char *)what)[0] == 1;
    case SSL_SECOP_OTHER_DH:
        return 1;
    default:
        return 0;
    }
}

/* OpenSSL asks for each cipher, group and key. The policy of the system is asked, too. */
static int is_allowed(const SSL *connection, const SSL_CTX *context, int operation, int bits, int number, void *what,
                      void *policy)
{
    if (is_finite_field(operation, what))
        return 0;
    return ((security_callback *)policy)(connection, context, operation, bits, number, what, policy);
}

static _Atomic(reach_certificate_reader *) certificate_reader;

/* OpenSSL shows each message before it reads it, and cannot be asked not to: what is not wanted becomes unreadable. */
static void message_arrived(int is_sent, int version, int kind, const void *bytes, size_t count, SSL *connection,
                            void *context)
{
    (void)connection;
    unsigned char *message = (unsigned char *)bytes;
    if (is_sent || kind != SSL3_RT_HANDSHAKE || count <= SSL3_HM_HEADER_LENGTH || message[0] != SSL3_MT_CERTIFICATE)
        return;
    message += SSL3_HM_HEADER_LENGTH;
    count -= SSL3_HM_HEADER_LENGTH;
    if (!certificate_reader(message, count, version == TLS1_3_VERSION, context))
        memset(message, 0xff, count);
}

void reach_tls_bound_handshake(SSL_CTX *context, long certificate_bytes, reach_certificate_reader *reader, void *reader_context)
{
    security_callback *policy = SSL_CTX_get_security_callback(context);
    if (policy != is_allowed) {
        SSL_CTX_set0_security_ex_data(context, (void *)policy);
        SSL_CTX_set_security_callback(context, is_allowed);
    }
    SSL_CTX_set_max_cert_list(context, certificate_bytes);
    certificate_reader = reader;
    SSL_CTX_set_msg_callback(context, message_arrived);
    SSL_CTX_set_msg_callback_arg(context, reader_context);
    /* A server may not ask for another handshake once the first one was verified, and its certificates are shown as they
     * are: OpenSSL unpacks compressed ones (RFC 8879) since 3.2, whose option no header of 3.0 has. */
    const uint64_t no_compressed_certificates = (uint64_t)1 << 33;
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | no_compressed_certificates);
}
