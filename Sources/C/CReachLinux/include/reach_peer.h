/* The credentials of a Unix socket's peer: struct ucred and accept4 need _GNU_SOURCE. */
#ifndef REACH_PEER_H
#define REACH_PEER_H

#include <sys/types.h>

struct reach_peer {
    pid_t process;
    uid_t user;
    gid_t group;
};

/* Accepts a connection, non-blocking and not inherited by children. Returns its socket, or -errno. */
int reach_accept(int listener);

/* Reads the credentials of the peer at the time of its connect or listen (SO_PEERCRED). Returns 0 or -errno. */
int reach_peer_credentials(int socket, struct reach_peer *peer);

/* Whether `group` is one of the peer's supplementary groups (SO_PEERGROUPS, Linux 4.13): 0, 1 or -errno. */
int reach_peer_has_group(int socket, gid_t group);

#endif
