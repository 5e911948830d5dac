#ifndef REACH_DECODE_H
#define REACH_DECODE_H

#include <stddef.h>
#include <stdint.h>

/* Decoders of content encodings (RFC 9110 section 8.4), which stop where there is no more room for what they make:
 * libcurl's own decode all that was received. The libraries are those that libcurl has, loaded at their first use. */

enum reach_encoding {
    /* Also of zlib's form, under the wrong name, and of several members (RFC 1952 section 2.2). */
    REACH_GZIP,
    /* Also without zlib's header, as some servers send it. */
    REACH_DEFLATE,
    REACH_BROTLI,
    REACH_ZSTD,
};

enum reach_decoding {
    /* It needs more bytes, or more room. */
    REACH_DECODES,
    /* The content is complete. Bytes behind it are skipped. */
    REACH_DECODED,
    REACH_DAMAGED,
};

typedef struct reach_decoder reach_decoder;

/* Whether the encoding's library can be loaded here. From any thread. */
int reach_encoding_known(enum reach_encoding encoding);

/* Returns NULL if the library cannot be loaded, or there is no memory. */
reach_decoder *reach_decoder_new(enum reach_encoding encoding);

/* Decodes until `*count` bytes are read or `*room` bytes are written, and subtracts what was read and written. */
enum reach_decoding reach_decoder_run(reach_decoder *decoder, const uint8_t *bytes, size_t *count, uint8_t *to,
                                      size_t *room);

void reach_decoder_free(reach_decoder *decoder);

#endif
