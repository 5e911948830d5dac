#ifndef REACH_CNETLINK_SHIM_H
#define REACH_CNETLINK_SHIM_H

#if !__has_include(<netlink/attr.h>)
#error "libnl-3 is missing: install libnl-3-dev (Debian), libnl3-devel (Fedora) or libnl (Arch)"
#endif
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/inet_diag.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/nexthop.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
/* Last, and by itself: without it Swift does not see IFF_LOWER_UP and IF_OPER_*. */
#include <linux/if.h>

#endif
