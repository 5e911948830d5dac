#ifndef REACH_HTTP_SERVER_H
#define REACH_HTTP_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A server for HTTP/1.1 on libmicrohttpd, which is loaded at the first use: it brings GnuTLS along, which only a program that
   serves needs. One thread of the library's own runs all callbacks. */

struct reach_http_exchange; /* a connection with a request that is to be answered; libmicrohttpd's */

struct reach_http_limits {
    unsigned connections;  /* of all clients */
    unsigned per_address;  /* of one client's address; 0 for no limit */
    unsigned idle_seconds; /* without a byte, until a connection is closed */
    size_t request_bytes;  /* of a connection: a request's line, its fields, and what is read at once */
};

/* Has to answer by reach_http_reply or reach_http_stream, and returns what that returned. */
typedef int (*reach_http_answer)(void *context, struct reach_http_exchange *exchange, const char *method, const char *path);

/* A connection was accepted, or is about to be closed. */
typedef void (*reach_http_notice)(void *context, int descriptor, int is_open);

/* Writes up to `size` bytes into `place` and returns how many. Before it returns 0 it has to call reach_http_rest. */
typedef ssize_t (*reach_http_reader)(void *context, uint64_t position, char *place, size_t size);

/* Why the library cannot be loaded; NULL if it can. Thread-safe. */
const char *reach_http_missing(void);

/* Serves a listening socket, until the process ends. Returns whether it does. */
int reach_http_serve(
    int listener, struct reach_http_limits limits, reach_http_answer answer, reach_http_notice notice, void *context);

/* The connection's own. Whoever shuts it down ends the connection. */
int reach_http_descriptor(struct reach_http_exchange *exchange);

/* A field of the request; NULL if it has none of this name. */
const char *reach_http_field(struct reach_http_exchange *exchange, const char *name);

/* Answers with these bytes, which have to stay until `end` is called, once. `fields` are names and values in turn, and
   end with NULL. */
int reach_http_reply(
    struct reach_http_exchange *exchange, unsigned status, const char *const *fields, const void *bytes, size_t length,
    void (*end)(void *), void *context);

/* Answers with what `reader` gives, without an end, until the client hangs up; then `end` is called once. */
int reach_http_stream(
    struct reach_http_exchange *exchange, const char *const *fields, reach_http_reader reader, void (*end)(void *),
    void *context);

/* Reads no more from an exchange's reader until reach_http_wake. To be called by the reader. */
void reach_http_rest(struct reach_http_exchange *exchange);

/* Thread-safe. The exchange has to rest. */
void reach_http_wake(struct reach_http_exchange *exchange);

#endif
