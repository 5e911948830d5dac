#include "reach_decode.h"

#include "reach_late.h"

#include <stdlib.h>
#include <zlib.h>

/* Of brotli and zstd, declared here so that building needs no headers of theirs. */
struct brotli;
struct zstd;
struct zstd_in {
    const void *bytes;
    size_t size, position;
};
struct zstd_out {
    void *bytes;
    size_t size, position;
};
enum { BROTLI_ERROR = 0, BROTLI_SUCCESS = 1 };
/* ZSTD_d_windowLogMax, and what RFC 8878 asks every decoder to have: 8 MiB. */
enum { ZSTD_WINDOW_LOG_MAX = 100, ZSTD_WINDOW_LOG = 23 };

static struct {
    int (*start)(z_streamp, int, const char *, int);
    int (*run)(z_streamp, int);
    int (*restart)(z_streamp);
    int (*end)(z_streamp);
} zlib;

static struct {
    struct brotli *(*start)(void *, void *, void *);
    int (*run)(struct brotli *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *);
    void (*end)(struct brotli *);
} brotli;

static struct {
    struct zstd *(*start)(void);
    size_t (*set)(struct zstd *, int, int);
    size_t (*run)(struct zstd *, struct zstd_out *, struct zstd_in *);
    unsigned (*is_error)(size_t);
    size_t (*end)(struct zstd *);
} zstd;

static const char ZLIB[] = "libz.so.1";
static const char BROTLI[] = "libbrotlidec.so.1";
static const char ZSTD[] = "libzstd.so.1";

static const struct reach_late_function zlib_functions[] = {
    {ZLIB, "inflateInit2_", &zlib.start},
    {ZLIB, "inflate", &zlib.run},
    {ZLIB, "inflateReset", &zlib.restart},
    {ZLIB, "inflateEnd", &zlib.end},
};
static const struct reach_late_function brotli_functions[] = {
    {BROTLI, "BrotliDecoderCreateInstance", &brotli.start},
    {BROTLI, "BrotliDecoderDecompressStream", &brotli.run},
    {BROTLI, "BrotliDecoderDestroyInstance", &brotli.end},
};
static const struct reach_late_function zstd_functions[] = {
    {ZSTD, "ZSTD_createDStream", &zstd.start},
    {ZSTD, "ZSTD_DCtx_setParameter", &zstd.set},
    {ZSTD, "ZSTD_decompressStream", &zstd.run},
    {ZSTD, "ZSTD_isError", &zstd.is_error},
    {ZSTD, "ZSTD_freeDStream", &zstd.end},
};

static int has_zlib, has_brotli, has_zstd;

static void load(void)
{
    char reason[256];
#define HAS(functions) (reach_bind_late(functions, sizeof functions / sizeof functions[0], reason, sizeof reason) == 0)
    has_zlib = HAS(zlib_functions);
    has_brotli = HAS(brotli_functions);
    has_zstd = HAS(zstd_functions);
#undef HAS
}

int reach_encoding_known(enum reach_encoding encoding)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    switch (encoding) {
    case REACH_GZIP:
    case REACH_DEFLATE:
        return has_zlib;
    case REACH_BROTLI:
        return has_brotli;
    case REACH_ZSTD:
        return has_zstd;
    }
    return 0;
}

struct reach_decoder {
    enum reach_encoding encoding;
    /* Whether the first byte was seen, which tells zlib's form from what has no header. */
    int has_begun;
    int has_ended;
    /* Whether bytes that belong to no content follow it: all others are skipped, too. */
    int is_closed;
    z_stream inflate;
    struct brotli *brotli;
    struct zstd *zstd;
    /* How many bytes of a frame's magic number zstd has read, and the first of them. */
    unsigned magic_bytes;
    uint8_t magic_begin;
};

reach_decoder *reach_decoder_new(enum reach_encoding encoding)
{
    if (!reach_encoding_known(encoding))
        return NULL;
    reach_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    decoder->encoding = encoding;
    if (encoding == REACH_BROTLI)
        decoder->brotli = brotli.start(NULL, NULL, NULL);
    if (encoding == REACH_ZSTD && (decoder->zstd = zstd.start()) != NULL)
        zstd.set(decoder->zstd, ZSTD_WINDOW_LOG_MAX, ZSTD_WINDOW_LOG);
    if ((encoding == REACH_BROTLI && decoder->brotli == NULL) || (encoding == REACH_ZSTD && decoder->zstd == NULL)) {
        free(decoder);
        return NULL;
    }
    return decoder;
}

void reach_decoder_free(reach_decoder *decoder)
{
    if (decoder->brotli != NULL)
        brotli.end(decoder->brotli);
    if (decoder->zstd != NULL)
        zstd.end(decoder->zstd);
    if (decoder->inflate.state != NULL)
        zlib.end(&decoder->inflate);
    free(decoder);
}

/* zlib's form begins with its method, 8, and gzip's with 31; neither begins a block of deflate that an encoder makes. */
static int begin_inflate(reach_decoder *decoder, uint8_t first)
{
    int has_header = decoder->encoding == REACH_GZIP || (first & 15) == 8 || first == 31;
    decoder->has_begun = 1;
    /* 32: gzip or zlib, whichever it is. */
    return zlib.start(&decoder->inflate, has_header ? 15 + 32 : -15, ZLIB_VERSION, sizeof decoder->inflate) == Z_OK;
}

static enum reach_decoding run_inflate(reach_decoder *decoder, const uint8_t *bytes, size_t *count, uint8_t *to,
                                       size_t *room)
{
    if (!decoder->has_begun) {
        if (*count == 0)
            return REACH_DECODES;
        if (!begin_inflate(decoder, bytes[0]))
            return REACH_DAMAGED;
    }
    z_stream *stream = &decoder->inflate;
    stream->next_in = (Bytef *)bytes;
    stream->avail_in = (uInt)*count;
    stream->next_out = to;
    stream->avail_out = (uInt)*room;
    enum reach_decoding result = REACH_DECODES;
    /* Without bytes, too: it may keep content for which there was no room. */
    for (;;) {
        int code = zlib.run(stream, Z_NO_FLUSH);
        if (code == Z_STREAM_END) {
            /* Another member of gzip begins with 31. */
            if (stream->avail_in == 0 || stream->next_in[0] != 31 || zlib.restart(stream) != Z_OK) {
                result = REACH_DECODED;
                break;
            }
            continue;
        }
        /* It needs more of either. */
        if (code == Z_BUF_ERROR || (code == Z_OK && stream->avail_out == 0))
            break;
        if (code != Z_OK) {
            result = REACH_DAMAGED;
            break;
        }
    }
    *count = stream->avail_in;
    *room = stream->avail_out;
    return result;
}

static enum reach_decoding run_brotli(reach_decoder *decoder, const uint8_t *bytes, size_t *count, uint8_t *to,
                                      size_t *room)
{
    int code = brotli.run(decoder->brotli, count, &bytes, room, &to, NULL);
    return code == BROTLI_ERROR ? REACH_DAMAGED : code == BROTLI_SUCCESS ? REACH_DECODED : REACH_DECODES;
}

/* Whether a frame of RFC 8878 goes on with these bytes, or one that is skipped. libzstd also reads the formats before the RFC, by code
   that nobody maintains any more, and that decodes by pieces what it refuses in one. */
static int has_magic(const struct reach_decoder *decoder, const uint8_t *bytes, size_t count)
{
    static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skipped[] = {0x50, 0x2a, 0x4d, 0x18};
    uint8_t first = decoder->magic_begin;
    for (unsigned i = decoder->magic_bytes; i < sizeof frame && count > 0; i++, bytes++, count--) {
        if (i == 0)
            first = *bytes;
        if (i == 0 ? first != frame[0] && (first & 0xf0) != skipped[0] : *bytes != (first == frame[0] ? frame : skipped)[i])
            return 0;
    }
    return 1;
}

static enum reach_decoding run_zstd(reach_decoder *decoder, const uint8_t *bytes, size_t *count, uint8_t *to,
                                    size_t *room)
{
    struct zstd_in in = {bytes, *count, 0};
    struct zstd_out out = {to, *room, 0};
    enum reach_decoding result = REACH_DECODES;
    do {
        size_t begin = in.position;
        if (!has_magic(decoder, bytes + begin, in.size - begin))
            return REACH_DAMAGED;
        if (decoder->magic_bytes == 0 && begin < in.size)
            decoder->magic_begin = bytes[begin];
        size_t hint = zstd.run(decoder->zstd, &out, &in);
        size_t read = hint == 0 ? 0 : decoder->magic_bytes + (in.position - begin);
        decoder->magic_bytes = read < sizeof(uint32_t) ? (unsigned)read : sizeof(uint32_t);
        /* Another frame may follow. */
        result = zstd.is_error(hint) ? REACH_DAMAGED : hint == 0 ? REACH_DECODED : REACH_DECODES;
    } while (result != REACH_DAMAGED && in.position < in.size && out.position < out.size);
    *count = in.size - in.position;
    *room = out.size - out.position;
    return result;
}

enum reach_decoding reach_decoder_run(reach_decoder *decoder, const uint8_t *bytes, size_t *count, uint8_t *to,
                                      size_t *room)
{
    int is_inflating = decoder->encoding == REACH_GZIP || decoder->encoding == REACH_DEFLATE;
    if (decoder->has_ended && *count > 0) {
        int goes_on = is_inflating ? bytes[0] == 31 && zlib.restart(&decoder->inflate) == Z_OK
                                   : decoder->encoding == REACH_ZSTD;
        if (decoder->is_closed || !goes_on)
            decoder->is_closed = 1;
        else
            decoder->has_ended = 0;
    }
    enum reach_decoding result = decoder->has_ended                    ? REACH_DECODED
                                 : is_inflating                        ? run_inflate(decoder, bytes, count, to, room)
                                 : decoder->encoding == REACH_BROTLI ? run_brotli(decoder, bytes, count, to, room)
                                                                     : run_zstd(decoder, bytes, count, to, room);
    /* zstd leaves bytes only for want of room. */
    if (result == REACH_DECODED && *count > 0 && (decoder->encoding != REACH_ZSTD || decoder->is_closed)) {
        decoder->is_closed = 1;
        *count = 0;
    }
    if (result == REACH_DECODED)
        decoder->has_ended = 1;
    return result;
}
