/* Sockets as this project wants them: Swift loses sight of SOCK_* where a module also imports libcurl. */
#ifndef REACH_SOCKET_H
#define REACH_SOCKET_H

/* A socket that is non-blocking and not inherited by children; or -errno. */
int reach_datagram_socket(int family);
int reach_stream_socket(int family);
/* The same for ICMP echo requests (ping sockets, icmp(7)); -EACCES where net.ipv4.ping_group_range forbids it. */
int reach_ping_socket(int family);

#endif
