#ifndef REACH_CARES_SHIM_H
#define REACH_CARES_SHIM_H

/* Newer versions rename some of these functions; Debian 12's 1.18 has only the old names. */
#define CARES_NO_DEPRECATED 1
#if !__has_include(<ares.h>)
#error "c-ares is missing: install libc-ares-dev (Debian), c-ares-devel (Fedora) or c-ares (Arch)"
#endif
#include <ares.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

/* Newer versions have an enumeration where older ones have macros, and functions that return an int all the same. */
static const int REACH_ARES_SUCCESS = ARES_SUCCESS;
static const int REACH_ARES_ENODATA = ARES_ENODATA;
static const int REACH_ARES_EBADNAME = ARES_EBADNAME;
static const int REACH_ARES_EBADRESP = ARES_EBADRESP;

/* Whether a socket type that c-ares asks for is a stream. Swift may attribute SOCK_STREAM to another module, depending on
 * the order in which files are compiled. */
static inline int reach_is_stream(int type) { return type == SOCK_STREAM; }

#endif
