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
