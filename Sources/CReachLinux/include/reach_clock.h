#ifndef REACH_CLOCK_H
#define REACH_CLOCK_H

/* Whether the kernel says that nothing has set the wall clock since the start (adjtimex(2), STA_UNSYNC). */
int reach_clock_is_unsynchronised(void);

#endif
