#include "CReachLinux.h"

#include <errno.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t reach_receive_netlink(int socket, void *buffer, size_t size, uint32_t *port)
{
    struct sockaddr_nl sender = {0};
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1};
    ssize_t length;
    do
        length = recvmsg(socket, &message, MSG_TRUNC);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return -errno;
    *port = sender.nl_pid;
    return length;
}

ssize_t reach_write_at_once(int descriptor, const void *bytes, size_t count)
{
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    ssize_t written = pwritev2(descriptor, &part, 1, -1, RWF_NOWAIT);
    return written < 0 ? -errno : written;
}

int reach_enter_network_namespace(int descriptor)
{
    return setns(descriptor, CLONE_NEWNET) == 0 ? 0 : -errno;
}

void reach_name_thread(const char *name)
{
    pthread_setname_np(pthread_self(), name);
}

int reach_thread_id(void)
{
    return gettid();
}
