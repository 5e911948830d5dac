#include "reach_clock.h"

#include <string.h>
#include <sys/timex.h>

int reach_clock_is_unsynchronised(void) {
    struct timex state;
    memset(&state, 0, sizeof state);
    return adjtimex(&state) >= 0 && (state.status & STA_UNSYNC) != 0;
}
