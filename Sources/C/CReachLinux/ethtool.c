#include "reach_ethtool.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <linux/wireless.h>

/* Both request structures begin with the interface name. */
_Static_assert(sizeof ((struct iwreq *)0)->ifr_ifrn.ifrn_name == IFNAMSIZ, "the same length of names");

static int query(
    int socket, unsigned long request_code, char name[static IFNAMSIZ], const char *interface, void *request) {
    size_t length = strlen(interface);
    if (length >= IFNAMSIZ) return ENODEV;
    memcpy(name, interface, length + 1);
    return ioctl(socket, request_code, request) == 0 ? 0 : errno;
}

int reach_ethtool_driver(int socket, const char *interface, struct reach_driver *driver) {
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq request = {.ifr_data = (void *)&info};
    int error = query(socket, SIOCETHTOOL, request.ifr_name, interface, &request);
    if (error) return error;
    _Static_assert(sizeof driver->name >= sizeof info.driver, "room for the name");
    _Static_assert(sizeof driver->bus_info >= sizeof info.bus_info, "room for the bus position");
    memcpy(driver->name, info.driver, sizeof info.driver);
    memcpy(driver->bus_info, info.bus_info, sizeof info.bus_info);
    driver->name[sizeof driver->name - 1] = driver->bus_info[sizeof driver->bus_info - 1] = '\0';
    return 0;
}

int reach_hardware_address(int socket, const char *interface, struct reach_hardware_address *address) {
    struct ifreq request = {0};
    int error = query(socket, SIOCGIFHWADDR, request.ifr_name, interface, &request);
    if (error) return error;
    _Static_assert(sizeof address->bytes == sizeof request.ifr_hwaddr.sa_data, "the same bytes");
    memcpy(address->bytes, request.ifr_hwaddr.sa_data, sizeof address->bytes);
    return 0;
}

int reach_wireless_extensions(int socket, const char *interface) {
    struct iwreq request = {0};
    return query(socket, SIOCGIWNAME, request.ifr_name, interface, &request);
}
