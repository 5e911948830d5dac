/* The traffic counters of a TCP socket, as sock_diag reports them. The full struct tcp_info is in linux/tcp.h, which
   conflicts with the C library's netinet/tcp.h that Swift's Glibc module includes. */
#ifndef REACH_TCP_H
#define REACH_TCP_H

#include <stddef.h>
#include <stdint.h>

struct reach_tcp_traffic {
    uint64_t bytes_acknowledged; /* sent bytes that were acknowledged; the client's SYN counts as one */
    uint64_t bytes_received;
    uint32_t data_received_ms; /* time since the last received data */
    uint32_t acknowledged_ms;  /* time since the last segment with an acknowledgement */
    uint32_t timeout_us;       /* the current retransmission timeout, doubled by each timeout in a row */
    uint32_t round_trip_us;    /* smoothed; 0 while none was measured */
    uint32_t unacknowledged;   /* segments that were sent and not acknowledged */
    uint32_t data_segments;    /* segments with data that were sent; 0 before Linux 4.6 */
    uint32_t repeated;         /* segments that were sent again */
    uint32_t repeated_out;     /* those of them that left this machine and were not acknowledged yet */
    uint8_t timeouts;          /* retransmission timeouts in a row: since new data was last acknowledged */
    uint8_t doublings;         /* how often the timeout was doubled; SYNs are first repeated without (Linux 6.5) */
};

/* Reads a struct tcp_info. Returns 0, or -1 where the kernel is too old to report the counters (before Linux 4.1). */
int reach_tcp_traffic(const void *info, size_t size, struct reach_tcp_traffic *traffic);

#endif
