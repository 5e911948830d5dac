/* Who is at the other end of a Unix socket: struct ucred and accept4 need _GNU_SOURCE. */
#ifndef REACH_PEER_H
#define REACH_PEER_H

#include <sys/types.h>

struct reach_peer {
    pid_t process;
    uid_t user;
    gid_t group;
};

/* A connection that waits at `listener`, non-blocking and not inherited by children; or -errno. */
int reach_accept(int listener);

/* Who connected, or who listens there, as it was at that time (SO_PEERCRED). Returns 0 or -errno. */
int reach_peer_credentials(int socket, struct reach_peer *peer);

/* Whether who connected has `group` among its supplementary groups (SO_PEERGROUPS, Linux 4.13): 0, 1 or -errno. */
int reach_peer_has_group(int socket, gid_t group);

#endif
