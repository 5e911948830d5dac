/* confine no-netlink|no-groups COMMAND [ARG ...]: runs a command that cannot open netlink sockets, or cannot
   subscribe to notifications, as in some containers and sandboxes. For tests. */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGUMENT(n) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static struct sock_filter no_netlink[] = {
    NUMBER, UNLESS(SYS_socket, 3), ARGUMENT(0), UNLESS(AF_NETLINK, 1), REFUSE, ALLOW,
};

static struct sock_filter no_groups[] = {
    NUMBER, UNLESS(SYS_setsockopt, 5), ARGUMENT(1), UNLESS(SOL_NETLINK, 3), ARGUMENT(2),
    UNLESS(NETLINK_ADD_MEMBERSHIP, 1), REFUSE, ALLOW,
};

static int install(struct sock_filter *filter, size_t count)
{
    struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0
        ? 0 : -1;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    int refused = -1;
    if (strcmp(arguments[1], "no-netlink") == 0)
        refused = install(no_netlink, sizeof no_netlink / sizeof *no_netlink);
    else if (strcmp(arguments[1], "no-groups") == 0)
        refused = install(no_groups, sizeof no_groups / sizeof *no_groups);
    if (refused != 0) {
        perror("confine");
        return 2;
    }
    execvp(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 127;
}
