#include "reach_late.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int reach_bind_late(const struct reach_late_function *functions, size_t count, char *reason, size_t size)
{
    void *library = NULL;
    const char *loaded = NULL;
    for (size_t i = 0; i < count; i++) {
        if (loaded != functions[i].library) {
            loaded = functions[i].library;
            /* A command calls few of a library's functions: the others are not looked up. */
            library = dlopen(loaded, RTLD_LAZY | RTLD_LOCAL);
            if (library == NULL) {
                snprintf(reason, size, "%s", dlerror());
                return -1;
            }
        }
        void *symbol = dlsym(library, functions[i].name);
        if (symbol == NULL) {
            snprintf(reason, size, "%s has no %s", loaded, functions[i].name);
            return -1;
        }
        /* POSIX guarantees that a pointer to a function fits into one to data. */
        *(void **)functions[i].place = symbol;
    }
    return 0;
}

void reach_abort_late(const char *library, const char *reason)
{
    fprintf(stderr, "%s is needed: %s\n", library, reason);
    abort();
}
