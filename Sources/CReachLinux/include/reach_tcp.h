/* What the kernel tells of a TCP socket by sock_diag: linux/tcp.h, which has the whole of it, does not go together with
   the C library's netinet/tcp.h that Swift's Glibc module brings. */
#ifndef REACH_TCP_H
#define REACH_TCP_H

#include <stddef.h>
#include <stdint.h>

struct reach_tcp_traffic {
    uint64_t bytes_acknowledged; /* of what was sent; the client's SYN counts as one */
    uint64_t bytes_received;
    uint32_t data_received_ms; /* so long ago */
    uint32_t acknowledged_ms;  /* so long ago came the last segment with an acknowledgement */
};

/* Reads a struct tcp_info. Returns 0, or -1 where the kernel is too old to tell (before Linux 4.1). */
int reach_tcp_traffic(const void *info, size_t size, struct reach_tcp_traffic *traffic);

#endif
