/* What starting and awaiting a child process needs, and only _GNU_SOURCE declares. Each returns -errno on failure. */
#ifndef REACH_PROCESS_H
#define REACH_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* A file in memory that holds these bytes, to be read from its beginning; not inherited by children. */
int reach_memory_file(const void *bytes, size_t count);

/* The two ends of a pipe, not inherited by children. The end to read from is non-blocking. Returns 0. */
int reach_pipe(int ends[2]);

/* Starts a program with no arguments: in a process group of its own and at /, with no signal blocked or ignored, with
   `input` as its standard input, `output` as its standard output and error, and no other descriptor. Returns 0. */
int reach_spawn(const char *path, char *const environment[], int input, int output, pid_t *process);

/* Lowers the soft limit on open descriptors of a process that may be another one; without a word where that fails. */
void reach_limit_descriptors(pid_t process, unsigned long soft);

/* A descriptor that is readable once the process has ended (Linux 5.3). */
int reach_pidfd_open(pid_t process);

/* Sends a signal to the process that the descriptor stands for, never to another of its number. 0, or a negative errno. */
int reach_pidfd_send_signal(int descriptor, int number);

#endif
