/* Queries of a network interface that only ioctls answer: Swift cannot fill struct ifreq, a union behind macros.
 *
 * They work on any socket, and query the network namespace of the thread that opened it. Each function returns 0 or an
 * errno number. */
#ifndef REACH_ETHTOOL_H
#define REACH_ETHTOOL_H

#include <stdint.h>

struct reach_driver {
    char name[32];     /* as in /sys/class/net/NAME/device/driver, or the driver of a virtual link */
    char bus_info[32]; /* the device's position on its bus; empty or "N/A" where there is no device */
};

/* The hardware address, or its first 14 bytes. */
struct reach_hardware_address {
    uint8_t bytes[14];
};

int reach_ethtool_driver(int socket, const char *interface, struct reach_driver *driver);
int reach_hardware_address(int socket, const char *interface, struct reach_hardware_address *address);

/* Returns 0 if the interface supports wireless extensions. */
int reach_wireless_extensions(int socket, const char *interface);

#endif
