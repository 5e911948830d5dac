#ifndef REACH_CARES_H
#define REACH_CARES_H

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

/* c-ares is loaded at the first query: a program that queries no name server does not pay for it.
 *
 * Loads it, once. Returns NULL, or the dynamic linker's message; then no other function of it may be called, or the
 * process aborts with that message. From any thread. */
const char *reach_ares_missing(void);

/* Whether a socket type that c-ares asks for is a stream. Swift may attribute SOCK_STREAM to another module, depending on
 * the order in which files are compiled. */
static inline int reach_is_stream(int type) { return type == SOCK_STREAM; }

#endif
