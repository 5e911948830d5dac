#ifndef REACH_LATE_H
#define REACH_LATE_H

#include <pthread.h>
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

/* Defines what each door to such a library has: `door`, which says why its library cannot be loaded, NULL if it can, and
   `need`, which its functions call first. The file has `load`, which binds the functions, and `missing`, the reason. */
#define REACH_LATE_DOOR(door, title)                                                                                   \
    const char *door(void)                                                                                             \
    {                                                                                                                  \
        static pthread_once_t once = PTHREAD_ONCE_INIT;                                                                \
        pthread_once(&once, load);                                                                                     \
        return missing[0] == '\0' ? NULL : missing;                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    static void need(void)                                                                                             \
    {                                                                                                                  \
        const char *reason = door();                                                                                   \
        if (reason != NULL)                                                                                            \
            reach_abort_late(title, reason);                                                                           \
    }

#endif
