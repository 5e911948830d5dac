/* Functions that make sockets: Swift does not see SOCK_* in a module that also imports libcurl. */
#ifndef REACH_SOCKET_H
#define REACH_SOCKET_H

/* Each makes a socket that is non-blocking and not inherited by children, and returns it, or -errno. */
int reach_datagram_socket(int family);
int reach_stream_socket(int family);
/* A socket for ICMP echo requests (ping sockets, icmp(7)); -EACCES where net.ipv4.ping_group_range forbids it. */
int reach_ping_socket(int family);

#endif
