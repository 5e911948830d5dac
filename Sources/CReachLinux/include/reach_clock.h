#ifndef REACH_CLOCK_H
#define REACH_CLOCK_H

/* Whether no time source has synchronised the wall clock since the boot (adjtimex(2), STA_UNSYNC). */
int reach_clock_is_unsynchronised(void);

#endif
