#ifndef REACH_NETLINK_ROUTE_H
#define REACH_NETLINK_ROUTE_H

#include <stddef.h>

/* The names of routing tables and of what creates routes, from libnl-route-3, which is loaded at the first call, and from
   /etc/iproute2. They write the name into `buffer` and return it; NULL if there is no name, or no library. Thread-safe. */
const char *reach_route_table_name(int table, char *buffer, size_t size);
const char *reach_route_protocol_name(int protocol, char *buffer, size_t size);

#endif
