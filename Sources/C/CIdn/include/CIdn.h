#ifndef REACH_IDN_H
#define REACH_IDN_H

#include <stddef.h>

enum {
    REACH_IDN_DONE,
    REACH_IDN_REFUSED, /* the name has no such form */
    REACH_IDN_MISSING, /* libidn2 cannot be loaded */
};

/* Writes the form of a host's name in ASCII into `buffer`, by libidn2, which is loaded at the first call. `name` is UTF-8.
   Otherwise `reason` says why not, in a text that stays. Thread-safe. */
int reach_idn_ascii(const char *name, char *buffer, size_t size, const char **reason);

#endif
