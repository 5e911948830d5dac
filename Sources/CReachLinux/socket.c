#include "reach_socket.h"

#include <errno.h>
#include <sys/socket.h>

static int make(int family, int type)
{
    int made = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return made < 0 ? -errno : made;
}

int reach_datagram_socket(int family) { return make(family, SOCK_DGRAM); }

int reach_stream_socket(int family) { return make(family, SOCK_STREAM); }
