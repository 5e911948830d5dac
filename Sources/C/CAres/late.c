/* The functions of c-ares that reach uses, bound at their first call, as CCurl/late.c binds libcurl's. The declarations
 * are those of the header; each name is defined by a function of this file, hidden from other libraries. The linker
 * reports a function that is missing here. */

#include "CAres.h"

#include "reach_late.h"

#include <stdio.h>

/* FUNCTION(result, name, parameters, arguments) */
#define FUNCTIONS                                                                                                      \
    FUNCTION(void, ares_destroy, (ares_channel a), (a))                                                                \
    FUNCTION(void, ares_free_data, (void *a), (a))                                                                     \
    FUNCTION(void, ares_free_hostent, (struct hostent * a), (a))                                                       \
    FUNCTION(int, ares_init_options, (ares_channel * a, struct ares_options * b, int c), (a, b, c))                    \
    FUNCTION(int, ares_library_init, (int a), (a))                                                                     \
    FUNCTION(int, ares_parse_a_reply,                                                                                  \
             (const unsigned char *a, int b, struct hostent **c, struct ares_addrttl *d, int *e), (a, b, c, d, e))     \
    FUNCTION(int, ares_parse_aaaa_reply,                                                                               \
             (const unsigned char *a, int b, struct hostent **c, struct ares_addr6ttl *d, int *e), (a, b, c, d, e))    \
    FUNCTION(int, ares_parse_mx_reply, (const unsigned char *a, int b, struct ares_mx_reply **c), (a, b, c))           \
    FUNCTION(int, ares_parse_ns_reply, (const unsigned char *a, int b, struct hostent **c), (a, b, c))                 \
    FUNCTION(int, ares_parse_ptr_reply,                                                                                \
             (const unsigned char *a, int b, const void *c, int d, int e, struct hostent **f), (a, b, c, d, e, f))     \
    FUNCTION(int, ares_parse_soa_reply, (const unsigned char *a, int b, struct ares_soa_reply **c), (a, b, c))         \
    FUNCTION(int, ares_parse_srv_reply, (const unsigned char *a, int b, struct ares_srv_reply **c), (a, b, c))         \
    FUNCTION(int, ares_parse_txt_reply_ext, (const unsigned char *a, int b, struct ares_txt_ext **c), (a, b, c))       \
    FUNCTION(void, ares_process_fd, (ares_channel a, ares_socket_t b, ares_socket_t c), (a, b, c))                     \
    FUNCTION(void, ares_query, (ares_channel a, const char *b, int c, int d, ares_callback e, void *f),                \
             (a, b, c, d, e, f))                                                                                       \
    FUNCTION(int, ares_set_servers_ports, (ares_channel a, struct ares_addr_port_node * b), (a, b))                    \
    FUNCTION(void, ares_set_socket_functions,                                                                          \
             (ares_channel a, const struct ares_socket_functions *b, void *c), (a, b, c))                              \
    FUNCTION(struct timeval *, ares_timeout, (ares_channel a, struct timeval * b, struct timeval * c), (a, b, c))

static struct {
#define FUNCTION(result, name, parameters, arguments) __typeof__(&name) name;
    FUNCTIONS
#undef FUNCTION
} late;

static const char library_name[] = "libcares.so.2";

static const struct reach_late_function functions[] = {
#define FUNCTION(result, name, parameters, arguments) {library_name, #name, &late.name},
    FUNCTIONS
#undef FUNCTION
};

static char missing[256];

static void load(void)
{
    if (reach_bind_late(functions, sizeof functions / sizeof functions[0], missing, sizeof missing) != 0)
        return;
    if (late.ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
        snprintf(missing, sizeof missing, "%s cannot be started", library_name);
}

REACH_LATE_DOOR(reach_ares_missing, "c-ares")

/* The functions are hidden: otherwise c-ares would call these instead of its own. */

#define FUNCTION(result, name, parameters, arguments)                                                                  \
    __attribute__((visibility("hidden"))) result name parameters                                                       \
    {                                                                                                                  \
        need();                                                                                                        \
        return late.name arguments;                                                                                    \
    }
FUNCTIONS
#undef FUNCTION
