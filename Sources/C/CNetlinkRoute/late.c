#include "CNetlinkRoute.h"

#include "reach_late.h"

#include <linux/rtnetlink.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* The declarations of netlink/route/route.h. The header is not included, since these are all that is used of libnl-route,
 * and its package for development would be needed for them alone. */
static struct {
    char *(*rtnl_route_table2str)(int, char *, size_t);
    char *(*rtnl_route_proto2str)(int, char *, size_t);
    int (*rtnl_route_read_table_names)(const char *);
    int (*rtnl_route_read_protocol_names)(const char *);
} late;

#define FUNCTION(name) {library, #name, &late.name}

static const char library[] = "libnl-route-3.so.200";
static const struct reach_late_function functions[] = {
    FUNCTION(rtnl_route_table2str),
    FUNCTION(rtnl_route_proto2str),
    FUNCTION(rtnl_route_read_table_names),
    FUNCTION(rtnl_route_read_protocol_names),
};

static int is_loaded;

/* Newer versions of iproute2 keep their own names below /usr, and leave /etc to the administrator. Reading a file forgets
 * all names that libnl knew, even if there is no such file. */
static void read_names(int (*read)(const char *), const char *own, const char *standard)
{
    if (access(own, R_OK) == 0)
        read(own);
    else if (access(standard, R_OK) == 0)
        read(standard);
}

static void load(void)
{
    char reason[256];
    if (reach_bind_late(functions, sizeof functions / sizeof functions[0], reason, sizeof reason) != 0)
        return;
    read_names(late.rtnl_route_read_table_names, "/etc/iproute2/rt_tables", "/usr/share/iproute2/rt_tables");
    read_names(late.rtnl_route_read_protocol_names, "/etc/iproute2/rt_protos", "/usr/share/iproute2/rt_protos");
    is_loaded = 1;
}

static const char *name(char *(*const *convert)(int, char *, size_t), int number, char *buffer, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    /* Without a name libnl prints the number in hexadecimal. */
    if (!is_loaded || (*convert)(number, buffer, size) == NULL || strncmp(buffer, "0x", 2) == 0)
        return NULL;
    return buffer;
}

const char *reach_route_table_name(int table, char *buffer, size_t size)
{
    /* The administrator's file need not have the kernel's own tables. */
    switch (table) {
    case RT_TABLE_DEFAULT: return "default";
    case RT_TABLE_MAIN: return "main";
    case RT_TABLE_LOCAL: return "local";
    }
    return name(&late.rtnl_route_table2str, table, buffer, size);
}

const char *reach_route_protocol_name(int protocol, char *buffer, size_t size)
{
    return name(&late.rtnl_route_proto2str, protocol, buffer, size);
}
