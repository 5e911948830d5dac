#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include "reach_socket.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

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

int reach_advertisement_socket(void)
{
    enum { advertisement = 134, buffer_bytes = 32 << 10 };
    int made = make(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
    if (made < 0) return made;
    struct icmp6_filter filter;
    ICMP6_FILTER_SETBLOCKALL(&filter);
    ICMP6_FILTER_SETPASS(advertisement, &filter);
    int on = 1, bytes = buffer_bytes;
    if (setsockopt(made, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof filter) < 0
        || setsockopt(made, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on) < 0
        || setsockopt(made, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof on) < 0) {
        int number = errno;
        close(made);
        return -number;
    }
    setsockopt(made, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    return made;
}

int reach_receive_advertisement(int socket, void *buffer, unsigned long size, struct reach_advertisement *how)
{
    struct sockaddr_in6 source = {0};
    char control[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
    struct iovec piece = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_name = &source, .msg_namelen = sizeof source, .msg_iov = &piece, .msg_iovlen = 1,
        .msg_control = control, .msg_controllen = sizeof control,
    };
    ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT);
    if (count < 0) return -errno;
    memcpy(how->source, &source.sin6_addr, sizeof how->source);
    how->interface = 0;
    how->hop_limit = -1;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != IPPROTO_IPV6) continue;
        if (part->cmsg_type == IPV6_HOPLIMIT) memcpy(&how->hop_limit, CMSG_DATA(part), sizeof how->hop_limit);
        if (part->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            how->interface = (int)info.ipi6_ifindex;
        }
    }
    return message.msg_flags & MSG_TRUNC ? 0 : (int)count;
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

int reach_next_icmp_error(int socket, struct reach_icmp_error *error)
{
    union {
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } target = {0};
    char control[512], payload[64];
    struct iovec place = {.iov_base = payload, .iov_len = sizeof payload};
    struct msghdr message = {
        .msg_name = &target,
        .msg_namelen = sizeof target,
        .msg_iov = &place,
        .msg_iovlen = 1,
        .msg_control = control,
        .msg_controllen = sizeof control,
    };
    if (recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
        return -errno;
    memset(error, 0, sizeof *error);
    /* The port is at the same offset in both families' addresses. */
    error->port = ntohs(target.v4.sin_port);
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
        int is_ipv4 = part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR;
        int is_ipv6 = part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR;
        if (!is_ipv4 && !is_ipv6)
            continue;
        struct sock_extended_err found;
        memcpy(&found, CMSG_DATA(part), sizeof found);
        error->number = (int)found.ee_errno;
        error->is_ipv6 = is_ipv6;
        if (found.ee_origin != SO_EE_ORIGIN_ICMP && found.ee_origin != SO_EE_ORIGIN_ICMP6)
            continue;
        error->type = found.ee_type;
        error->code = found.ee_code;
        const unsigned char *sender = CMSG_DATA(part) + sizeof found;
        size_t offset = is_ipv4 ? offsetof(struct sockaddr_in, sin_addr) : offsetof(struct sockaddr_in6, sin6_addr);
        memcpy(error->offender, sender + offset, is_ipv4 ? 4 : 16);
    }
    return 0;
}

int reach_link_has_neighbours(const char *name)
{
    struct ifreq request = {0};
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    int made = make(AF_INET, SOCK_DGRAM, 0);
    if (made < 0) return 1;
    int result = ioctl(made, SIOCGIFFLAGS, &request);
    close(made);
    return result < 0 || (request.ifr_flags & (IFF_NOARP | IFF_POINTOPOINT)) == 0;
}

static int packet_socket(int interface, unsigned short protocol, const struct sock_fprog *filter)
{
    /* Nothing arrives before the filter is there. */
    int made = make(AF_PACKET, SOCK_DGRAM, 0);
    if (made < 0) return made;
    struct sockaddr_ll place = {.sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = interface};
    if ((filter && setsockopt(made, SOL_SOCKET, SO_ATTACH_FILTER, filter, sizeof *filter) < 0)
        || bind(made, (struct sockaddr *)&place, sizeof place) < 0) {
        int number = errno;
        close(made);
        return -number;
    }
    return made;
}

int reach_arp_socket(int interface) { return packet_socket(interface, ETH_P_ARP, NULL); }

/* A neighbour advertisement in an IPv6 packet (RFC 4861 section 4.4), with the option of the owner's address. */
struct advertisement_packet {
    unsigned char version[4], length[2], next, hops, source[16], target[16];
    unsigned char type, code, sum[2], flags[4], subject[16], option, option_length, owner[6];
};

enum { solicitation = 135, advertisement_of_neighbour = 136, own_address = 1, owners_address = 2 };

int reach_discovery_socket(int interface)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offsetof(struct advertisement_packet, next)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 3),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offsetof(struct advertisement_packet, type)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, advertisement_of_neighbour, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, sizeof(struct advertisement_packet)),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog filter = {.len = sizeof steps / sizeof steps[0], .filter = steps};
    return packet_socket(interface, ETH_P_IPV6, &filter);
}

/* Ethernet's ARP packet (RFC 826). */
struct arp_packet {
    unsigned char head[8];
    unsigned char sender[6], sender_ip[4], target[6], target_ip[4];
};

/* The address of a packet socket's interface. Returns 0 or -errno, which is EOPNOTSUPP where the link is no Ethernet. */
static int own_address_on_ethernet(int socket, struct sockaddr_ll *own)
{
    socklen_t length = sizeof *own;
    if (getsockname(socket, (struct sockaddr *)own, &length) < 0) return -errno;
    return own->sll_hatype == ARPHRD_ETHER && own->sll_halen == 6 ? 0 : -EOPNOTSUPP;
}

int reach_arp_ask(int socket, int interface, const unsigned char address[4])
{
    struct sockaddr_ll own;
    int result = own_address_on_ethernet(socket, &own);
    if (result < 0) return result;
    struct arp_packet packet = {.head = {0, 1, 8, 0, 6, 4, 0, 1}};
    memcpy(packet.sender, own.sll_addr, 6);
    memcpy(packet.target_ip, address, 4);
    struct sockaddr_ll all = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ARP), .sll_ifindex = interface, .sll_halen = 6};
    memset(all.sll_addr, 0xff, 6);
    return sendto(socket, &packet, sizeof packet, MSG_NOSIGNAL, (struct sockaddr *)&all, sizeof all) < 0 ? -errno : 0;
}

int reach_arp_answer(int socket, const unsigned char address[4], unsigned char owner[6])
{
    struct arp_packet packet;
    struct sockaddr_ll from = {0};
    socklen_t length = sizeof from;
    ssize_t count = recvfrom(socket, &packet, sizeof packet, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
    if (count < 0) return -errno;
    int is_reply = count == sizeof packet && from.sll_pkttype != PACKET_OUTGOING && packet.head[7] == 2;
    if (!is_reply || memcmp(packet.sender_ip, address, 4) != 0) return 0;
    memcpy(owner, packet.sender, 6);
    return 1;
}

static unsigned short checksum(const unsigned char *bytes, size_t count)
{
    unsigned long sum = 0;
    for (size_t place = 0; place + 1 < count; place += 2) sum += (unsigned long)(bytes[place] << 8 | bytes[place + 1]);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return (unsigned short)~sum;
}

static void put(unsigned char *place, unsigned short value)
{
    place[0] = (unsigned char)(value >> 8);
    place[1] = (unsigned char)value;
}

int reach_discovery_ask(int socket, int interface, const unsigned char source[16], const unsigned char address[16])
{
    struct sockaddr_ll own;
    int result = own_address_on_ethernet(socket, &own);
    if (result < 0) return result;
    enum { message_bytes = 32 };
    /* The question has the form of the answer. Only a host of the link may ask, which the largest hop limit shows. */
    struct advertisement_packet packet = {.version = {0x60}, .length = {0, message_bytes}, .next = IPPROTO_ICMPV6, .hops = 255,
                                          .type = solicitation, .option = own_address, .option_length = 1};
    memcpy(packet.source, source, 16);
    /* The group of all whose addresses end so (RFC 4291 section 2.7.1). */
    const unsigned char group[13] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
    memcpy(packet.target, group, sizeof group);
    memcpy(packet.target + 13, address + 13, 3);
    memcpy(packet.subject, address, 16);
    memcpy(packet.owner, own.sll_addr, 6);
    /* The checksum counts the addresses, the length and the protocol as well (RFC 8200 section 8.1). */
    unsigned char counted[40 + message_bytes] = {0};
    memcpy(counted, packet.source, 32);
    counted[35] = message_bytes;
    counted[39] = IPPROTO_ICMPV6;
    memcpy(counted + 40, &packet.type, message_bytes);
    put(packet.sum, checksum(counted, sizeof counted));
    struct sockaddr_ll all = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IPV6), .sll_ifindex = interface, .sll_halen = 6,
                              .sll_addr = {0x33, 0x33, 0xff, address[13], address[14], address[15]}};
    return sendto(socket, &packet, sizeof packet, MSG_NOSIGNAL, (struct sockaddr *)&all, sizeof all) < 0 ? -errno : 0;
}

int reach_discovery_answer(int socket, const unsigned char address[16], unsigned char owner[6])
{
    struct advertisement_packet packet;
    struct sockaddr_ll from = {0};
    socklen_t length = sizeof from;
    ssize_t count = recvfrom(socket, &packet, sizeof packet, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
    if (count < 0) return -errno;
    int is_answer = count == sizeof packet && from.sll_pkttype != PACKET_OUTGOING && packet.hops == 255
        && packet.next == IPPROTO_ICMPV6 && packet.type == advertisement_of_neighbour
        && packet.option == owners_address && packet.option_length == 1;
    if (!is_answer || memcmp(packet.subject, address, 16) != 0) return 0;
    memcpy(owner, packet.owner, 6);
    return 1;
}

int reach_link_local_source(int interface, unsigned char source[16])
{
    struct ifaddrs *all;
    if (getifaddrs(&all) < 0) return -errno;
    int result = -EADDRNOTAVAIL;
    for (struct ifaddrs *one = all; one && result < 0; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET6) continue;
        struct sockaddr_in6 address;
        memcpy(&address, one->ifa_addr, sizeof address);
        if (!IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr) || (int)address.sin6_scope_id != interface) continue;
        memcpy(source, &address.sin6_addr, 16);
        result = 0;
    }
    freeifaddrs(all);
    return result;
}

/* Writes an echo request of IPv4 or IPv6 from `source` to `target`, which has `bytes` bytes in all, headers included. */
static void write_echo(unsigned char *packet, int is_ipv6, const unsigned char *source, const unsigned char *target,
                       unsigned short identifier, unsigned char bytes)
{
    unsigned char header = is_ipv6 ? 40 : 20, length = bytes - header;
    unsigned char *echo = packet + header;
    memset(packet, 0, bytes);
    echo[0] = is_ipv6 ? 128 : 8;
    put(echo + 4, identifier);
    put(echo + 6, 1);
    if (is_ipv6) {
        memcpy(packet + 8, source, 16);
        memcpy(packet + 24, target, 16);
        /* The checksum counts the addresses, the length and the protocol as well (RFC 8200 section 8.1): they stand in front, as
         * the header would, while it is calculated. */
        packet[5] = length;
        packet[7] = IPPROTO_ICMPV6;
        put(echo + 2, checksum(packet, bytes));
        memcpy(packet, (const unsigned char[]){0x60, 0, 0, 0, 0, length, IPPROTO_ICMPV6, 64}, 8);
        return;
    }
    memcpy(packet, (const unsigned char[]){0x45, 0, 0, bytes, 0, 0, 0x40, 0, 64, IPPROTO_ICMP}, 10);
    memcpy(packet + 12, source, 4);
    memcpy(packet + 16, target, 4);
    put(packet + 10, checksum(packet, header));
    put(echo + 2, checksum(echo, length));
}

int reach_echo_by(int interface, const unsigned char neighbour[6], int is_ipv6, const unsigned char *source,
                  const unsigned char *target, unsigned short identifier)
{
    enum { all_bytes = 104 };
    unsigned char packet[all_bytes];
    write_echo(packet, is_ipv6, source, target, identifier, all_bytes);
    int made = make(AF_PACKET, SOCK_DGRAM, 0);
    if (made < 0) return made;
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_protocol = htons(is_ipv6 ? ETH_P_IPV6 : ETH_P_IP),
                             .sll_ifindex = interface, .sll_halen = 6};
    memcpy(to.sll_addr, neighbour, 6);
    int result = sendto(made, packet, sizeof packet, MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof to) < 0 ? -errno : 0;
    close(made);
    return result;
}

unsigned short reach_ping_identifier(int socket)
{
    struct sockaddr_in6 own = {0};
    int domain;
    socklen_t length = sizeof domain;
    if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0) return 0;
    own.sin6_family = (sa_family_t)domain;
    length = domain == AF_INET6 ? sizeof own : sizeof(struct sockaddr_in);
    if (bind(socket, (struct sockaddr *)&own, length) < 0 || getsockname(socket, (struct sockaddr *)&own, &length) < 0) return 0;
    return ntohs(own.sin6_port); /* at the same place as an IPv4 address has it */
}

/* Room for one descriptor: CMSG_SPACE would leave room for two. */
union one_descriptor {
    char bytes[CMSG_LEN(sizeof(int))];
    struct cmsghdr header;
};

long reach_receive(int socket, void *buffer, unsigned long size, int *descriptor)
{
    union one_descriptor control;
    struct iovec piece = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes,
    };
    *descriptor = -1;
    ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = count < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
        && header->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(descriptor, CMSG_DATA(header), sizeof(int));
    return count;
}

long reach_send(int socket, const void *bytes, unsigned long size, int descriptor)
{
    union one_descriptor control;
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes,
    };
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}
