#include "reach_tcp.h"

#include <linux/tcp.h>
#include <string.h>

int reach_tcp_traffic(const void *info, size_t size, struct reach_tcp_traffic *traffic)
{
    struct tcp_info tcp;
    if (size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof tcp.tcpi_bytes_received)
        return -1;
    memset(&tcp, 0, sizeof tcp);
    memcpy(&tcp, info, size < sizeof tcp ? size : sizeof tcp);
    traffic->bytes_acknowledged = tcp.tcpi_bytes_acked;
    traffic->bytes_received = tcp.tcpi_bytes_received;
    traffic->data_received_ms = tcp.tcpi_last_data_recv;
    traffic->acknowledged_ms = tcp.tcpi_last_ack_recv;
    traffic->timeout_us = tcp.tcpi_rto;
    traffic->round_trip_us = tcp.tcpi_rtt;
    traffic->unacknowledged = tcp.tcpi_unacked;
    traffic->data_segments = tcp.tcpi_data_segs_out;
    traffic->repeated = tcp.tcpi_total_retrans;
    traffic->repeated_out = tcp.tcpi_retrans;
    traffic->timeouts = tcp.tcpi_retransmits;
    traffic->doublings = tcp.tcpi_backoff;
    return 0;
}
