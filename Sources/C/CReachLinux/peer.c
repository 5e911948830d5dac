#include "reach_peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

int reach_accept(int listener)
{
    int socket;
    do
        socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    while (socket < 0 && errno == EINTR);
    return socket < 0 ? -errno : socket;
}

int reach_peer_credentials(int socket, struct reach_peer *peer)
{
    struct ucred credentials = {0};
    socklen_t size = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
        return -errno;
    *peer = (struct reach_peer){
        .process = credentials.pid, .user = credentials.uid, .group = credentials.gid};
    return 0;
}

int reach_peer_has_group(int socket, gid_t group)
{
    socklen_t size = 0;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0)
        return 0;
    if (errno != ERANGE)
        return -errno;
    gid_t *groups = malloc(size);
    if (!groups)
        return -ENOMEM;
    int result = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) == 0 ? 0 : -errno;
    for (size_t i = 0; result == 0 && i < size / sizeof *groups; i++)
        result = groups[i] == group;
    free(groups);
    return result;
}
