#include "CHTTPServer.h"

#include "reach_late.h"

#include <pthread.h>

struct MHD_Daemon;
struct MHD_Response;

/* The declarations of microhttpd.h, whose numbers are part of its ABI. The header is not included, since these are all
 * that is used of libmicrohttpd, and its package for development would be needed for them alone. */
typedef int (*access_handler)(
    void *, struct reach_http_exchange *, const char *, const char *, const char *, const char *, size_t *, void **);

static struct {
    struct MHD_Daemon *(*MHD_start_daemon)(unsigned, uint16_t, void *, void *, access_handler, void *, ...);
    const char *(*MHD_lookup_connection_value)(struct reach_http_exchange *, int, const char *);
    const int *(*MHD_get_connection_info)(struct reach_http_exchange *, int, ...);
    struct MHD_Response *(*MHD_create_response_from_buffer_with_free_callback_cls)(
        size_t, void *, void (*)(void *), void *);
    struct MHD_Response *(*MHD_create_response_from_callback)(
        uint64_t, size_t, reach_http_reader, void *, void (*)(void *));
    int (*MHD_add_response_header)(struct MHD_Response *, const char *, const char *);
    int (*MHD_queue_response)(struct reach_http_exchange *, unsigned, struct MHD_Response *);
    void (*MHD_destroy_response)(struct MHD_Response *);
    void (*MHD_suspend_connection)(struct reach_http_exchange *);
    void (*MHD_resume_connection)(struct reach_http_exchange *);
} late;

enum {
    FAILED = 0,              /* MHD_NO */
    INTERNAL_THREAD = 8,     /* MHD_USE_INTERNAL_POLLING_THREAD */
    EPOLL = 512,             /* MHD_USE_EPOLL */
    MAY_REST = 8192 | 1024,  /* MHD_ALLOW_SUSPEND_RESUME */
    OPTIONS_END = 0,         /* MHD_OPTION_END */
    MEMORY_LIMIT = 1,        /* MHD_OPTION_CONNECTION_MEMORY_LIMIT, size_t */
    CONNECTION_LIMIT = 2,    /* MHD_OPTION_CONNECTION_LIMIT, unsigned */
    TIMEOUT = 3,             /* MHD_OPTION_CONNECTION_TIMEOUT, unsigned */
    PER_ADDRESS_LIMIT = 5,   /* MHD_OPTION_PER_IP_CONNECTION_LIMIT, unsigned */
    LISTENER = 12,           /* MHD_OPTION_LISTEN_SOCKET, int */
    NOTICES = 27,            /* MHD_OPTION_NOTIFY_CONNECTION, a function and its context */
    IS_CLOSED = 1,           /* MHD_CONNECTION_NOTIFY_CLOSED */
    DESCRIPTOR = 6,          /* MHD_CONNECTION_INFO_CONNECTION_FD */
    FIELD = 1,               /* MHD_HEADER_KIND */
    STREAM_BLOCK = 1024,
};

#define FUNCTION(name) {library, #name, &late.name}

static const char library[] = "libmicrohttpd.so.12";
static const struct reach_late_function functions[] = {
    FUNCTION(MHD_start_daemon),
    FUNCTION(MHD_lookup_connection_value),
    FUNCTION(MHD_get_connection_info),
    FUNCTION(MHD_create_response_from_buffer_with_free_callback_cls),
    FUNCTION(MHD_create_response_from_callback),
    FUNCTION(MHD_add_response_header),
    FUNCTION(MHD_queue_response),
    FUNCTION(MHD_destroy_response),
    FUNCTION(MHD_suspend_connection),
    FUNCTION(MHD_resume_connection),
};

static char missing[256];

static void load(void)
{
    reach_bind_late(functions, sizeof functions / sizeof functions[0], missing, sizeof missing);
}

REACH_LATE_DOOR(reach_http_missing, "libmicrohttpd")

/* Lives as long as the process. */
struct server {
    reach_http_answer answer;
    reach_http_notice notice;
    void *context;
};

/* A connection and a request on it are one handle to the library. */
static void note(void *context, struct reach_http_exchange *connection, void **state, int what)
{
    struct server *server = context;
    (void)state;
    server->notice(server->context, reach_http_descriptor(connection), what != IS_CLOSED);
}

static int handle(
    void *context, struct reach_http_exchange *exchange, const char *path, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **state)
{
    struct server *server = context;
    (void)version, (void)upload, (void)upload_size, (void)state;
    /* At the first call, which has the fields and no body: a request with a body ends its connection. */
    return server->answer(server->context, exchange, method, path);
}

int reach_http_serve(
    int listener, struct reach_http_limits limits, reach_http_answer answer, reach_http_notice notice, void *context)
{
    static struct server server;
    need();
    server.answer = answer;
    server.notice = notice;
    server.context = context;
    return late.MHD_start_daemon(
               EPOLL | INTERNAL_THREAD | MAY_REST, 0, NULL, NULL, handle, &server, LISTENER, listener, CONNECTION_LIMIT,
               limits.connections, PER_ADDRESS_LIMIT, limits.per_address, TIMEOUT, limits.idle_seconds, MEMORY_LIMIT,
               limits.request_bytes, NOTICES, note, &server, OPTIONS_END)
        != NULL;
}

const char *reach_http_field(struct reach_http_exchange *exchange, const char *name)
{
    return late.MHD_lookup_connection_value(exchange, FIELD, name);
}

int reach_http_descriptor(struct reach_http_exchange *exchange)
{
    const int *descriptor = late.MHD_get_connection_info(exchange, DESCRIPTOR);
    return descriptor == NULL ? -1 : *descriptor;
}

static int send_response(
    struct reach_http_exchange *exchange, unsigned status, const char *const *fields, struct MHD_Response *response)
{
    if (response == NULL)
        return FAILED;
    for (; fields[0] != NULL; fields += 2)
        late.MHD_add_response_header(response, fields[0], fields[1]);
    int result = late.MHD_queue_response(exchange, status, response);
    late.MHD_destroy_response(response);
    return result;
}

int reach_http_reply(
    struct reach_http_exchange *exchange, unsigned status, const char *const *fields, const void *bytes, size_t length,
    void (*end)(void *), void *context)
{
    struct MHD_Response *response =
        late.MHD_create_response_from_buffer_with_free_callback_cls(length, (void *)bytes, end, context);
    if (response == NULL)
        end(context);
    return send_response(exchange, status, fields, response);
}

int reach_http_stream(
    struct reach_http_exchange *exchange, const char *const *fields, reach_http_reader reader, void (*end)(void *),
    void *context)
{
    struct MHD_Response *response =
        late.MHD_create_response_from_callback(UINT64_MAX, STREAM_BLOCK, reader, context, end);
    if (response == NULL)
        end(context);
    return send_response(exchange, 200, fields, response);
}

void reach_http_rest(struct reach_http_exchange *exchange) { late.MHD_suspend_connection(exchange); }

void reach_http_wake(struct reach_http_exchange *exchange) { late.MHD_resume_connection(exchange); }
