#ifndef REACH_NETWORKMANAGER_H
#define REACH_NETWORKMANAGER_H

#include <stdint.h>

/* What NetworkManager says of a link on the system bus: its NMMetered, such as 3 for a guess by the DHCP lease, which its files do not
   have. Returns that, or -errno: -ENOENT where the name has no owner, or one that is not root.

   It loads libsystemd, and waits for each of three answers for at most `patience_us`. It starts no NetworkManager. To be called on a
   thread that may wait. */
int reach_networkmanager_metered(const char *interface, uint64_t patience_us);

#endif
