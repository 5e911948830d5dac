#ifndef REACH_CARES_H
#define REACH_CARES_H

/* Newer versions have other names for some of these calls, which Debian 12's 1.18 lacks. */
#define CARES_NO_DEPRECATED 1
#include <ares.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

/* c-ares is loaded when the first question is asked: a program that asks no name server does not pay for it.
 *
 * Loads it, once. NULL, or what the dynamic linker says is missing; then no other function of it may be called, or the
 * process ends with that sentence. From any thread. */
const char *reach_ares_missing(void);

#endif
