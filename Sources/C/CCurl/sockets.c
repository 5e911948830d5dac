#define _GNU_SOURCE // POLLRDHUP
#include "CCurl.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

void reach_socket_sever(int socket)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return;
    close(pair[1]);
    dup3(pair[0], socket, O_CLOEXEC);
    close(pair[0]);
}

int reach_socket_has_ended(int socket, int nothing_should_come)
{
    struct pollfd state = {.fd = socket, .events = POLLRDHUP | (nothing_should_come ? POLLIN : 0)};
    return poll(&state, 1, 0) > 0;
}
