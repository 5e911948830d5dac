#include "CNetlinkGeneric.h"

#include "reach_late.h"

#include <pthread.h>
#include <stddef.h>

struct nl_sock;

/* The declarations of netlink/socket.h, netlink/genl/genl.h and netlink/genl/ctrl.h. The headers are not included, since
 * these are all that is used of libnl-genl, and its package for development would be needed for them alone. */
static struct {
    struct nl_sock *(*nl_socket_alloc)(void);
    void (*nl_socket_free)(struct nl_sock *);
    int (*genl_connect)(struct nl_sock *);
    int (*genl_ctrl_resolve)(struct nl_sock *, const char *);
    int (*genl_ctrl_resolve_grp)(struct nl_sock *, const char *, const char *);
} late;

#define FUNCTION(library, name) {library, #name, &late.name}

static const char base[] = "libnl-3.so.200";
static const char generic[] = "libnl-genl-3.so.200";
static const struct reach_late_function functions[] = {
    FUNCTION(base, nl_socket_alloc),
    FUNCTION(base, nl_socket_free),
    FUNCTION(generic, genl_connect),
    FUNCTION(generic, genl_ctrl_resolve),
    FUNCTION(generic, genl_ctrl_resolve_grp),
};

static int is_loaded;

static void load(void)
{
    char reason[256];
    is_loaded = reach_bind_late(functions, sizeof functions / sizeof functions[0], reason, sizeof reason) == 0;
}

int reach_generic_family(const char *family, const char *group, int *family_number, int *group_number)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!is_loaded)
        return -1;
    struct nl_sock *socket = late.nl_socket_alloc();
    if (socket == NULL)
        return -1;
    int result = late.genl_connect(socket);
    if (result == 0) {
        *family_number = late.genl_ctrl_resolve(socket, family);
        *group_number = group == NULL ? 0 : late.genl_ctrl_resolve_grp(socket, family, group);
        result = *family_number < 0 || *group_number < 0 ? -1 : 0;
    }
    late.nl_socket_free(socket);
    return result;
}
