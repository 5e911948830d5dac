#ifndef REACH_LINUX_H
#define REACH_LINUX_H

/* Declarations that Swift's Glibc module lacks: whole headers, and calls that need _GNU_SOURCE, which a public header
   must not define. */

#include "reach_ethtool.h"
#include "reach_late.h"
#include "reach_link.h"
#include "reach_memory.h"
#include "reach_networkmanager.h"
#include "reach_peer.h"
#include "reach_process.h"
#include "reach_socket.h"
#include "reach_tcp.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>

enum { REACH_DATAGRAMS_AT_MOST = 32 };

struct reach_datagram {
    unsigned length; /* the full length, which exceeds the slot when the datagram was truncated */
    unsigned port; /* the sender's port; 0 is the kernel */
};

/* Receives up to `count` datagrams queued on a netlink socket, each into its slot of `buffer`; waits for the first if
   the socket is blocking. A `count` beyond REACH_DATAGRAMS_AT_MOST is refused with EINVAL. Returns the number of datagrams, or -errno. */
int reach_receive_netlink(int socket, void *buffer, size_t slot_size, struct reach_datagram *datagrams, unsigned count);

/* Writes as much as a descriptor accepts at once, without waiting and without making it non-blocking (RWF_NOWAIT).
   Returns the number of bytes, or -errno: -EOPNOTSUPP where this kind of file, or the kernel, does not support it. */
ssize_t reach_write_at_once(int descriptor, const void *bytes, size_t count);

/* Whether the kernel knows, without asking a disk or a server, that there is no file of this name (RESOLVE_CACHED, Linux
   5.12). 0 where there is one, where it would have to ask, and where it cannot say. */
int reach_is_known_missing(const char *path);

/* Takes the room on the disk for a part of a file, which keeps its length. Returns 0, or -errno: -EOPNOTSUPP where the file system
   cannot promise any. */
int reach_reserve(int file, off_t begin, off_t count);

/* Moves the calling thread into the network namespace that `descriptor` refers to. Returns 0 or -errno. */
int reach_enter_network_namespace(int descriptor);

/* Sets the name of the calling thread, which ps and top show; at most 15 bytes. */
void reach_name_thread(const char *name);

/* Returns the kernel's ID of the calling thread. */
int reach_thread_id(void);

/* Whether the kernel's clock follows a time server (adjtimex(2)): 1 or 0, or -1 if that cannot be asked. */
int reach_clock_is_synchronized(void);

#endif
