/* Functions that make sockets: Swift does not see SOCK_* in a module that also imports libcurl. */
#ifndef REACH_SOCKET_H
#define REACH_SOCKET_H

/* Each makes a socket that is non-blocking and not inherited by children, and returns it, or -errno. */
int reach_datagram_socket(int family);
int reach_stream_socket(int family);
/* A socket for ICMP echo requests (ping sockets, icmp(7)); -EACCES where net.ipv4.ping_group_range forbids it. */
int reach_ping_socket(int family);
/* A raw socket that receives ICMPv6 router advertisements and nothing else; -EPERM without CAP_NET_RAW. */
int reach_advertisement_socket(void);

/* A socket for ARP on one interface; -EPERM without CAP_NET_RAW. */
int reach_arp_socket(int interface);
/* Asks who has an IPv4 address, as RFC 5227 does, from no address at all, so that no cache learns anything. Returns 0 or -errno. */
int reach_arp_ask(int socket, int interface, const unsigned char address[4]);
/* Receives an answer about an address and writes who gave it. Returns 1, 0 for another packet, or -errno. */
int reach_arp_answer(int socket, const unsigned char address[4], unsigned char owner[6]);

/* The same for IPv6: a socket that sees neighbours' advertisements on one interface before any firewall does. */
int reach_discovery_socket(int interface);
/* Asks from a link-local address of the interface who has an address. Returns 0 or -errno. */
int reach_discovery_ask(int socket, int interface, const unsigned char source[16], const unsigned char address[16]);
int reach_discovery_answer(int socket, const unsigned char address[16], unsigned char owner[6]);
/* Finds a link-local IPv6 address of an interface. Returns 0 or -errno. */
int reach_link_local_source(int interface, unsigned char source[16]);
/* Hands an echo request to a neighbour, whatever the routes say. Addresses have 4 bytes, or 16 with IPv6. Returns 0 or -errno. */
int reach_echo_by(int interface, const unsigned char neighbour[6], int is_ipv6, const unsigned char *source,
                  const unsigned char *target, unsigned short identifier);
/* The identifier of a ping socket, which it gets when it is bound; 0 where there is none. */
unsigned short reach_ping_identifier(int socket);
/* Whether hosts on a link are found by ARP or neighbour discovery; 1 where that is not known. */
int reach_link_has_neighbours(const char *name);

/* How a router advertisement arrived. */
struct reach_advertisement {
    unsigned char source[16];
    int interface;               /* the index; 0 if it is not known */
    int hop_limit;               /* -1 if it is not known */
};

/* Receives an advertisement, without its IPv6 header. Returns its length, 0 for one that is longer than the buffer, or -errno. */
int reach_receive_advertisement(int socket, void *buffer, unsigned long size, struct reach_advertisement *how);

/* An ICMP error that came back for a datagram, as a socket with IP_RECVERR or IPV6_RECVERR queues it. */
struct reach_icmp_error {
    int number;                  /* the errno number */
    int is_ipv6;
    unsigned char type, code;    /* of the ICMP message; 0 where this machine made the error */
    unsigned short port;         /* the port that the datagram was sent to */
    unsigned char offender[16];  /* who sent it: 4 bytes, or 16 with IPv6; zeros where this machine did */
};

/* Reads the next queued error. Returns 0 or -errno: -EAGAIN where there is none. */
int reach_next_icmp_error(int socket, struct reach_icmp_error *error);

/* Writes a socket address of AF_INET (4 bytes of address) or AF_INET6 (16 bytes) to `place`, which has room for 28 bytes.
 * Returns its length. In C, because Swift attributes sockaddr_in to whichever module's header it reads first. */
unsigned reach_socket_address(void *place, int is_ipv6, const unsigned char *address, unsigned short port, unsigned scope);

/* Receives bytes, and a descriptor that came with them (SCM_RIGHTS): -1 if none did. The kernel closes further ones. Returns as
   recv(2) does. */
long reach_receive(int socket, void *buffer, unsigned long size, int *descriptor);

/* Sends bytes with a descriptor. Returns as send(2) does, without SIGPIPE. */
long reach_send(int socket, const void *bytes, unsigned long size, int descriptor);

#endif
