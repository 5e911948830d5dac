#include <arpa/inet.h>
#include <string.h>
#include "reach_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int make(int family, int type, int protocol)
{
    int made = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    return made < 0 ? -errno : made;
}

int reach_datagram_socket(int family) { return make(family, SOCK_DGRAM, 0); }

int reach_stream_socket(int family) { return make(family, SOCK_STREAM, 0); }

int reach_ping_socket(int family)
{
    return make(family, SOCK_DGRAM, family == AF_INET6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
}

unsigned reach_socket_address(void *place, int is_ipv6, const unsigned char *address, unsigned short port, unsigned scope) {
    if (!is_ipv6) {
        struct sockaddr_in value = {.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&value.sin_addr, address, sizeof value.sin_addr);
        memcpy(place, &value, sizeof value);
        return sizeof value;
    }
    struct sockaddr_in6 value = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = scope};
    memcpy(&value.sin6_addr, address, sizeof value.sin6_addr);
    memcpy(place, &value, sizeof value);
    return sizeof value;
}
