/* Functions that make sockets: Swift does not see SOCK_* in a module that also imports libcurl. */
#ifndef REACH_SOCKET_H
#define REACH_SOCKET_H

/* Each makes a socket that is non-blocking and not inherited by children, and returns it, or -errno. */
int reach_datagram_socket(int family);
int reach_stream_socket(int family);
/* A socket for ICMP echo requests (ping sockets, icmp(7)); -EACCES where net.ipv4.ping_group_range forbids it. */
int reach_ping_socket(int family);

/* Writes a socket address of AF_INET (4 bytes of address) or AF_INET6 (16 bytes) to `place`, which has room for 28 bytes.
 * Returns its length. In C, because Swift attributes sockaddr_in to whichever module's header it reads first. */
unsigned reach_socket_address(void *place, int is_ipv6, const unsigned char *address, unsigned short port, unsigned scope);

#endif
