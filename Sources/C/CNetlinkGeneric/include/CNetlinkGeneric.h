#ifndef REACH_NETLINK_GENERIC_H
#define REACH_NETLINK_GENERIC_H

/* The numbers that this kernel gave to a family of generic netlink and to one of its multicast groups, found by
   libnl-genl-3, which is loaded at the first call. Returns 0; a negative number if the kernel or this machine has no such
   family, group or library. A group of NULL is not looked for. Thread-safe. */
int reach_generic_family(const char *family, const char *group, int *family_number, int *group_number);

#endif
