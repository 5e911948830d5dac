#ifndef REACH_LATE_H
#define REACH_LATE_H

#include <stddef.h>

/* A function of a library that is loaded at its first use, and the pointer through which it is called. */
struct reach_late_function {
    const char *library;
    const char *name;
    void *place;
};

/* Loads the libraries and binds the functions; those of one library follow each other. Returns 0, or -1 with the reason
   in `reason`. To be called once, under pthread_once. */
int reach_bind_late(const struct reach_late_function *functions, size_t count, char *reason, size_t size);

/* Ends the process because a function of a library was called that could not be loaded. */
void reach_abort_late(const char *library, const char *reason) __attribute__((noreturn));

#endif
