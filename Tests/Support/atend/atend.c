/* Preloaded by a test: the process ends with 99 if it runs what libraries registered for its end (atexit), as exit(3) does. */
#include <stdlib.h>
#include <unistd.h>

static void atEnd(void) { _exit(99); }

__attribute__((constructor)) static void watch(void) { atexit(atEnd); }
