/*
 * storm: makes the changes that the benchmarks measure, in the network namespace it is started in, by raw netlink.
 *
 *   storm routes N LINK                  adds N IPv4 /32 routes inside 198.18.0.0/15 to LINK, then deletes them
 *   storm fill N LINK                    adds N IPv4 /32 routes inside 10.0.0.0/8 to LINK and leaves them
 *   storm veth N                         N times: creates a veth pair, sets both ends up, deletes it
 *   storm poke route N PACE_US LINK GATEWAY FILE
 *                                        N times in turn: deletes and adds the default route
 *   storm poke host N PACE_US LINK GATEWAY HOST FILE
 *                                        N times in turn: deletes and adds a route to HOST, which has to be there first
 *   storm poke link N PACE_US LINK FILE  N times in turn: sets LINK down and up
 *   storm lines FILE                     reads lines from standard input until it ends
 *   storm audience N SOCKET TARGET FILE  subscribes N times to the daemon's target; writes "ready" once all have its state,
 *                                        and reads changes until standard input ends
 *
 * `poke` writes one line for each change into FILE, "BOOTTIME_NS off" or "BOOTTIME_NS on", the clock read just before
 * send(2); `lines` writes "BOOTTIME_NS LINE", the clock read as soon as read(2) returns. Both keep everything in memory
 * until the end. `audience` writes one line for each change, "DECIDED_NS LATEST_NS SUBSCRIBERS": when the daemon decided it,
 * and when the last of so many subscribers had read it. Every request is acknowledged and every answer read, so neither side can wait for the other.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { batch = 100, buffer_size = 64 * 1024, read_size = 1 << 16 };

static int netlink;
static uint32_t sequence;
static struct { char bytes[buffer_size] __attribute__((aligned(8))); size_t length; } request;

static void die(const char *what) {
    fprintf(stderr, "storm: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t boottime(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static unsigned link_index(const char *name) {
    unsigned index = if_nametoindex(name);
    if (index == 0) die(name);
    return index;
}

static uint64_t number(const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != 0 || end == text) { errno = EINVAL; die(text); }
    return value;
}

/* Messages are appended to `request` and sent together. */

static struct nlmsghdr *begin(uint16_t type, uint16_t flags, const void *header, size_t size) {
    struct nlmsghdr *message = (void *)(request.bytes + request.length);
    *message = (struct nlmsghdr){.nlmsg_len = (uint32_t)NLMSG_LENGTH(size), .nlmsg_type = type,
        .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags), .nlmsg_seq = ++sequence};
    memcpy(NLMSG_DATA(message), header, size);
    return message;
}

static struct rtattr *put(struct nlmsghdr *message, uint16_t type, const void *data, size_t size) {
    struct rtattr *attribute = (void *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = (uint16_t)RTA_LENGTH(size);
    if (size > 0) memcpy(RTA_DATA(attribute), data, size);
    message->nlmsg_len = (uint32_t)(NLMSG_ALIGN(message->nlmsg_len) + RTA_ALIGN(attribute->rta_len));
    return attribute;
}

static void close_nest(struct nlmsghdr *message, struct rtattr *nest) {
    nest->rta_len = (uint16_t)((char *)message + message->nlmsg_len - (char *)nest);
}

static void finish(struct nlmsghdr *message) { request.length += NLMSG_ALIGN(message->nlmsg_len); }

/* Sends the appended messages and reads the answer to each. Returns the last error. */
static int flush(size_t messages) {
    static char answer[buffer_size] __attribute__((aligned(8)));
    int failure = 0;
    if (send(netlink, request.bytes, request.length, 0) < 0) die("send");
    request.length = 0;
    while (messages > 0) {
        ssize_t length = recv(netlink, answer, sizeof answer, 0);
        if (length < 0) die("recv");
        for (struct nlmsghdr *m = (void *)answer; NLMSG_OK(m, length); m = NLMSG_NEXT(m, length)) {
            if (m->nlmsg_type != NLMSG_ERROR) continue;
            struct nlmsgerr *error = NLMSG_DATA(m);
            if (error->error != 0) failure = -error->error;
            messages--;
        }
    }
    return failure;
}

static void flush_or_die(size_t messages, const char *what) {
    int failure = flush(messages);
    if (failure != 0) { errno = failure; die(what); }
}

static void lay_route(bool add, uint32_t destination, uint8_t length, unsigned link, uint32_t gateway) {
    /* A deletion names no protocol and no type, so that it matches the route whatever created it. */
    struct rtmsg route = {.rtm_family = AF_INET, .rtm_dst_len = length, .rtm_table = RT_TABLE_MAIN,
        .rtm_protocol = add ? RTPROT_STATIC : RTPROT_UNSPEC, .rtm_type = add ? RTN_UNICAST : RTN_UNSPEC,
        .rtm_scope = gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK};
    struct nlmsghdr *message = begin(add ? RTM_NEWROUTE : RTM_DELROUTE, add ? NLM_F_CREATE | NLM_F_EXCL : 0, &route,
        sizeof route);
    if (length > 0) put(message, RTA_DST, &(uint32_t){htonl(destination)}, 4);
    if (gateway) put(message, RTA_GATEWAY, &gateway, 4);
    put(message, RTA_OIF, &link, 4);
    finish(message);
}

static void lay_link_state(unsigned link, bool up) {
    struct ifinfomsg info = {.ifi_index = (int)link, .ifi_change = IFF_UP, .ifi_flags = up ? IFF_UP : 0};
    finish(begin(RTM_NEWLINK, 0, &info, sizeof info));
}

static void many_routes(bool add, uint64_t count, uint32_t first, unsigned link) {
    for (uint64_t done = 0; done < count;) {
        size_t laid = 0;
        for (; laid < batch && done < count; laid++, done++) lay_route(add, first + (uint32_t)done, 32, link, 0);
        flush_or_die(laid, add ? "adding a route" : "deleting a route");
    }
}

static void veth(uint64_t count) {
    const struct ifinfomsg none = {0};
    for (uint64_t i = 0; i < count; i++) {
        struct nlmsghdr *message = begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &none, sizeof none);
        put(message, IFLA_IFNAME, "storm0", 7);
        struct rtattr *info = put(message, IFLA_LINKINFO, NULL, 0);
        put(message, IFLA_INFO_KIND, "veth", 4);
        struct rtattr *data = put(message, IFLA_INFO_DATA, NULL, 0);
        struct rtattr *peer = put(message, VETH_INFO_PEER, &none, sizeof none);
        put(message, IFLA_IFNAME, "storm1", 7);
        close_nest(message, peer);
        close_nest(message, data);
        close_nest(message, info);
        finish(message);
        flush_or_die(1, "creating a veth pair");
        unsigned index = link_index("storm0");
        lay_link_state(index, true);
        lay_link_state(link_index("storm1"), true);
        flush_or_die(2, "setting a veth pair up");
        const struct ifinfomsg gone = {.ifi_index = (int)index};
        finish(begin(RTM_DELLINK, 0, &gone, sizeof gone));
        flush_or_die(1, "deleting a veth pair");
    }
}

static uint32_t address_of(const char *text) {
    uint32_t address;
    if (inet_pton(AF_INET, text, &address) != 1) { errno = EINVAL; die(text); }
    return address;
}

/* Without a host the default route is changed, without a gateway the link. */
static void poke(
    uint64_t count, uint64_t pace_us, const char *name, const char *gateway, const char *host, const char *file) {
    int64_t *stamps = calloc(count, sizeof *stamps);
    FILE *out = fopen(file, "w");
    if (!stamps || !out) die(file);
    unsigned link = link_index(name);
    const uint32_t through = gateway ? address_of(gateway) : 0, target = host ? ntohl(address_of(host)) : 0;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t after = (uint64_t)next.tv_nsec + pace_us * 1000;
        next.tv_sec += (time_t)(after / 1000000000);
        next.tv_nsec = (long)(after % 1000000000);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR) {}
        bool on = i % 2 == 1;
        if (gateway) lay_route(on, target, host ? 32 : 0, link, through);
        else lay_link_state(link, on);
        stamps[i] = boottime();
        flush_or_die(1, gateway ? "changing the route" : "setting the link");
    }
    for (uint64_t i = 0; i < count; i++) fprintf(out, "%" PRId64 " %s\n", stamps[i], i % 2 == 1 ? "on" : "off");
    if (fclose(out) != 0) die(file);
}

static void lines(const char *file) {
    struct piece { int64_t time; size_t length; } *pieces = NULL;
    size_t count = 0, room = 0, size = 0, capacity = 0;
    char *text = NULL;
    FILE *out = fopen(file, "w");
    if (!out) die(file);
    for (;;) {
        if (capacity - size < read_size && !(text = realloc(text, capacity = 2 * capacity + read_size))) die("realloc");
        if (count == room && !(pieces = realloc(pieces, (room = 2 * room + 1024) * sizeof *pieces))) die("realloc");
        ssize_t length = read(STDIN_FILENO, text + size, read_size);
        int64_t now = boottime();
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) break;
        pieces[count++] = (struct piece){now, (size_t)length};
        size += (size_t)length;
    }
    /* The time of a line is that of the read which returned its newline. */
    size_t line = 0, position = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t end = position + pieces[i].length; position < end; position++)
            if (text[position] == '\n') {
                fprintf(out, "%" PRId64 " %.*s\n", pieces[i].time, (int)(position - line), text + line);
                line = position + 1;
            }
    if (fclose(out) != 0) die(file);
}

static int subscribe(const char *path, const char *target) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char call[512];
    int length = snprintf(call, sizeof call, "{\"method\":\"io.reach.Monitor.Watch\",\"more\":true,"
        "\"parameters\":{\"target\":\"%s\"}}", target);
    if (strlen(path) >= sizeof address.sun_path || length >= (int)sizeof call) { errno = ENAMETOOLONG; die(path); }
    strcpy(address.sun_path, path);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0 || connect(client, (void *)&address, sizeof address) != 0) die(path);
    if (send(client, call, (size_t)length + 1, MSG_NOSIGNAL) != length + 1) die("send");
    return client;
}

static void audience(uint64_t count, const char *path, const char *target, const char *file) {
    enum { most = 4096 };
    static struct { int64_t decided, latest; uint64_t readers; } changes[most];
    static char text[1 << 18];
    size_t found = 0;
    uint64_t begun = 0;
    struct rlimit limit;
    FILE *out = fopen(file, "w");
    int poll = epoll_create1(EPOLL_CLOEXEC);
    if (!out || poll < 0) die(file);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (uint64_t i = 0; i <= count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = i == count ? STDIN_FILENO : subscribe(path, target)};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event) != 0) die("epoll_ctl");
    }
    for (;;) {
        struct epoll_event events[256];
        int ready = epoll_wait(poll, events, 256, -1);
        if (ready < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < ready; i++) {
            ssize_t length = read(events[i].data.fd, text, sizeof text - 1);
            if (events[i].data.fd == STDIN_FILENO && length <= 0) goto end;
            if (length <= 0) { errno = EPIPE; die("the daemon hung up"); }
            int64_t now = boottime();
            text[length] = 0;
            /* A frame ends with a zero byte, and is sent as one piece. */
            for (char *frame = text; frame < text + length; frame += strlen(frame) + 1) {
                if (strstr(frame, "\"type\":\"snapshot\"") && ++begun == count) { puts("ready"); fflush(stdout); }
                char *clock = strstr(frame, "\"boottime_ns\":");
                if (!clock || !strstr(frame, "\"type\":\"change\"")) continue;
                int64_t decided = strtoll(clock + 14, NULL, 10);
                size_t place = found;
                while (place > 0 && changes[place - 1].decided != decided) place--;
                if (place == 0) {
                    if (found == most) { errno = ERANGE; die("too many changes"); }
                    changes[found++].decided = decided;
                    place = found;
                }
                changes[place - 1].readers++;
                changes[place - 1].latest = now;
            }
        }
    }
end:
    for (size_t i = 0; i < found; i++)
        fprintf(out, "%" PRId64 " %" PRId64 " %" PRIu64 "\n", changes[i].decided, changes[i].latest, changes[i].readers);
    if (fclose(out) != 0) die(file);
}

static _Noreturn void usage(void) {
    fputs("usage: storm routes|fill N LINK\n       storm veth N\n       storm poke route N PACE_US LINK GATEWAY FILE\n"
          "       storm poke host N PACE_US LINK GATEWAY HOST FILE\n       storm poke link N PACE_US LINK FILE\n"
          "       storm lines FILE\n       storm audience N SOCKET TARGET FILE\n", stderr);
    exit(2);
}

int main(int count, char **a) {
    if (count < 3) usage();
    const char *command = a[1];
    if (count == 3 && strcmp(command, "lines") == 0) return lines(a[2]), 0;
    if (count == 6 && strcmp(command, "audience") == 0) return audience(number(a[2]), a[3], a[4], a[5]), 0;

    netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (netlink < 0) die("socket");
    int size = 4 << 20; /* room for the answers to a whole batch */
    if (setsockopt(netlink, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
        setsockopt(netlink, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    int one = 1;
    setsockopt(netlink, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof one);
    struct timeval patience = {.tv_sec = 30};
    setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);

    if (count == 4 && strcmp(command, "routes") == 0) {
        uint64_t n = number(a[2]);
        if (n > 1 << 17) { errno = ERANGE; die("more routes than 198.18.0.0/15 has addresses"); }
        many_routes(true, n, 0xC6120000, link_index(a[3]));
        many_routes(false, n, 0xC6120000, link_index(a[3]));
    } else if (count == 4 && strcmp(command, "fill") == 0) {
        uint64_t n = number(a[2]);
        if (n > 1 << 24) { errno = ERANGE; die("more routes than 10.0.0.0/8 has addresses"); }
        many_routes(true, n, 0x0A000000, link_index(a[3]));
    } else if (count == 3 && strcmp(command, "veth") == 0) {
        veth(number(a[2]));
    } else if (count == 8 && strcmp(command, "poke") == 0 && strcmp(a[2], "route") == 0) {
        poke(number(a[3]), number(a[4]), a[5], a[6], NULL, a[7]);
    } else if (count == 9 && strcmp(command, "poke") == 0 && strcmp(a[2], "host") == 0) {
        poke(number(a[3]), number(a[4]), a[5], a[6], a[7], a[8]);
    } else if (count == 7 && strcmp(command, "poke") == 0 && strcmp(a[2], "link") == 0) {
        poke(number(a[3]), number(a[4]), a[5], NULL, NULL, a[6]);
    } else {
        usage();
    }
    return 0;
}
