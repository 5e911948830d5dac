/* Questions to a network interface that only ioctl answers: Swift can fill no struct ifreq, a union behind macros.
 *
 * Any socket will do; its network namespace, that of the thread which opened it, is the one asked. Each function
 * returns 0, or an errno number. */
#ifndef REACH_ETHTOOL_H
#define REACH_ETHTOOL_H

#include <stdint.h>

struct reach_driver {
    char name[32];     /* as in /sys/class/net/NAME/device/driver, or what made the link */
    char bus_info[32]; /* the device's place on its bus; empty or "N/A" where there is no device */
};

/* The hardware address, or the first 14 bytes of it. */
struct reach_hardware_address {
    uint8_t bytes[14];
};

int reach_ethtool_driver(int socket, const char *interface, struct reach_driver *driver);
int reach_hardware_address(int socket, const char *interface, struct reach_hardware_address *address);

/* 0 if the interface answers to wireless extensions. */
int reach_wireless_extensions(int socket, const char *interface);

#endif
