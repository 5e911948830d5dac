#include "CReachLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <unistd.h>

int reach_receive_netlink(int socket, void *buffer, size_t slot_size, struct reach_datagram *datagrams, unsigned count)
{
    struct mmsghdr headers[REACH_DATAGRAMS_AT_MOST];
    struct iovec parts[REACH_DATAGRAMS_AT_MOST];
    struct sockaddr_nl senders[REACH_DATAGRAMS_AT_MOST];
    int received;
    if (count > REACH_DATAGRAMS_AT_MOST)
        return -EINVAL;
    for (unsigned i = 0; i < count; i++) {
        parts[i] = (struct iovec){.iov_base = (char *)buffer + i * slot_size, .iov_len = slot_size};
        headers[i].msg_hdr = (struct msghdr){
            .msg_name = &senders[i], .msg_namelen = sizeof senders[i], .msg_iov = &parts[i], .msg_iovlen = 1};
    }
    do
        received = recvmmsg(socket, headers, count, MSG_TRUNC | MSG_WAITFORONE, NULL);
    while (received < 0 && errno == EINTR);
    if (received < 0)
        return -errno;
    for (int i = 0; i < received; i++)
        datagrams[i] = (struct reach_datagram){.length = headers[i].msg_len, .port = senders[i].nl_pid};
    return received;
}

ssize_t reach_write_at_once(int descriptor, const void *bytes, size_t count)
{
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    ssize_t written = pwritev2(descriptor, &part, 1, -1, RWF_NOWAIT);
    return written < 0 ? -errno : written;
}

int reach_is_known_missing(const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED};
    long descriptor = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (descriptor >= 0)
        close((int)descriptor);
    return descriptor < 0 && errno == ENOENT;
}

int reach_reserve(int file, off_t begin, off_t count)
{
    int result;
    do
        result = fallocate(file, FALLOC_FL_KEEP_SIZE, begin, count);
    while (result < 0 && errno == EINTR);
    return result == 0 ? 0 : -errno;
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

int reach_clock_is_synchronized(void)
{
    struct timex time = {0};
    int state = adjtimex(&time);
    return state < 0 ? -1 : state != TIME_ERROR && !(time.status & STA_UNSYNC);
}
