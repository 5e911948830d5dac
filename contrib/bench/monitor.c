/*
 * monitor: reports network changes, as a careful C programmer would write it on libnl-3. `reach watch` is compared with
 * it: it joins the same groups, waits in epoll, and writes one line with one write(2) for each default
 * route that comes or goes and each link that gains or loses its carrier. It makes no queries.
 *
 *   monitor [INTERFACE]     watches every interface but lo, or one
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP (1 << 16)
#endif

enum { links_kept = 4096, receive_buffer = 8 << 20 };

struct link {
    int index;
    bool carrier;
    char name[IFNAMSIZ];
};

static struct link links[links_kept];
static size_t link_count;
static const char *only;
static bool dumping = true;

static void die(const char *call, int code) {
    fprintf(stderr, "monitor: %s: %s\n", call, nl_geterror(code));
    exit(1);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (write(STDOUT_FILENO, line, (size_t)length) != length) exit(errno == EPIPE ? 0 : 1);
}

static void event(const char *type, const char *what, const char *interface) {
    struct timespec boot, wall;
    char stamp[32];
    struct tm utc;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_REALTIME, &wall);
    gmtime_r(&wall.tv_sec, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    say("{\"type\":\"%s\",\"time\":\"%s.%06ldZ\",\"boottime_ns\":%" PRId64 ",\"event\":\"%s\",\"interface\":\"%s\"}\n",
        type, stamp, wall.tv_nsec / 1000, (int64_t)boot.tv_sec * 1000000000 + boot.tv_nsec, what, interface);
}

static struct link *find_link(int index) {
    for (size_t i = 0; i < link_count; i++)
        if (links[i].index == index) return &links[i];
    return NULL;
}

static void link_notice(struct nlmsghdr *header) {
    struct nlattr *attributes[IFLA_MAX + 1];
    struct ifinfomsg *info = nlmsg_data(header);
    if (info->ifi_family != AF_UNSPEC) return; /* a bridge port's own notice, not the link's */
    if (nlmsg_parse(header, sizeof *info, attributes, IFLA_MAX, NULL) < 0) return;
    struct link *known = find_link(info->ifi_index);
    if (header->nlmsg_type == RTM_DELLINK) {
        if (known) *known = links[--link_count];
        return;
    }
    bool carrier = (info->ifi_flags & IFF_LOWER_UP) != 0;
    bool was = known && known->carrier;
    if (!known) {
        if (link_count == links_kept) return;
        known = &links[link_count++];
        known->index = info->ifi_index;
    }
    known->carrier = carrier;
    if (attributes[IFLA_IFNAME]) nla_strlcpy(known->name, attributes[IFLA_IFNAME], sizeof known->name);
    if (dumping || carrier == was || (info->ifi_flags & IFF_LOOPBACK)) return;
    if (only && strcmp(only, known->name) != 0) return;
    event("link", carrier ? "carrier" : "no-carrier", known->name);
}

static void route_notice(struct nlmsghdr *header) {
    struct nlattr *attributes[RTA_MAX + 1];
    struct rtmsg *route = nlmsg_data(header);
    if (route->rtm_dst_len != 0 || route->rtm_table != RT_TABLE_MAIN || route->rtm_type != RTN_UNICAST) return;
    if (nlmsg_parse(header, sizeof *route, attributes, RTA_MAX, NULL) < 0) return;
    struct link *link = attributes[RTA_OIF] ? find_link((int)nla_get_u32(attributes[RTA_OIF])) : NULL;
    if (only && (!link || strcmp(only, link->name) != 0)) return;
    event("route", header->nlmsg_type == RTM_NEWROUTE ? "added" : "deleted", link ? link->name : "");
}

static int notice(struct nl_msg *message, void *unused) {
    (void)unused;
    struct nlmsghdr *header = nlmsg_hdr(message);
    switch (header->nlmsg_type) {
        case RTM_NEWLINK: case RTM_DELLINK: link_notice(header); break;
        case RTM_NEWROUTE: case RTM_DELROUTE: route_notice(header); break;
        default: break;
    }
    return NL_OK;
}

static struct nl_sock *open_socket(void) {
    struct nl_sock *socket = nl_socket_alloc();
    if (!socket) die("nl_socket_alloc", -NLE_NOMEM);
    int code = nl_connect(socket, NETLINK_ROUTE);
    if (code < 0) die("nl_connect", code);
    nl_socket_set_msg_buf_size(socket, 32768); /* one recvmsg for each datagram, no peek before it */
    nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, notice, NULL);
    return socket;
}

int main(int count, char **arguments) {
    if (count > 1) only = arguments[1];
    signal(SIGPIPE, SIG_IGN);

    struct nl_sock *events = open_socket();
    nl_socket_disable_seq_check(events);
    int size = receive_buffer, fd = nl_socket_get_fd(events);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    static const int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
        RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEIGH, RTNLGRP_NEXTHOP};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        int code = nl_socket_add_membership(events, groups[i]);
        if (code < 0) die("nl_socket_add_membership", code);
    }
    nl_socket_set_nonblocking(events);

    struct nl_sock *requests = open_socket();
    struct ifinfomsg all = {.ifi_family = AF_UNSPEC};
    int code = nl_send_simple(requests, RTM_GETLINK, NLM_F_DUMP, &all, sizeof all);
    if (code < 0 || (code = nl_recvmsgs_default(requests)) < 0) die("RTM_GETLINK", code);
    nl_socket_free(requests);
    dumping = false;
    event("snapshot", "links", "");

    int poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event wanted = {.events = EPOLLIN}, ready;
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &wanted);
    for (;;) {
        if (epoll_wait(poller, &ready, 1, -1) < 0) continue;
        while ((code = nl_recvmsgs_default(events)) >= 0) {}
        if (code == -NLE_NOMEM) event("lost", "notices", ""); /* libnl's name for ENOBUFS */
        else if (code != -NLE_AGAIN) die("nl_recvmsgs", code);
    }
}
