/* Functions to start a child process and wait for it, which need _GNU_SOURCE. Each returns -errno on failure. */
#ifndef REACH_PROCESS_H
#define REACH_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* Makes a file in memory with these bytes, positioned at its beginning; not inherited by children. */
int reach_memory_file(const void *bytes, size_t count);

/* Makes a pipe, not inherited by children. Its read end is non-blocking. Returns 0. */
int reach_pipe(int ends[2]);

/* Starts a program without arguments: in a process group of its own, in the directory /, with no signal blocked or
   ignored, with `input` as its standard input, `output` as its standard output and error, and no other descriptor.
   Returns 0. */
int reach_spawn(const char *path, char *const environment[], int input, int output, pid_t *process);

/* Makes this process the parent of descendants whose parent has ended, instead of init. */
void reach_adopt_orphans(void);

/* Starts the command, which is searched for in PATH: in a process group of its own, with the caller's descriptors and
   environment, and no signal blocked or ignored. Its group becomes the foreground group of `terminal`, unless that is
   negative. Returns 0. */
int reach_spawn_job(char *const arguments[], int terminal, pid_t *process);

/* Lowers the soft limit on open descriptors of any process. It ignores errors. */
void reach_limit_descriptors(pid_t process, unsigned long soft);

/* Returns a descriptor that is readable once the process has ended (Linux 5.3). */
int reach_pidfd_open(pid_t process);

/* Sends a signal to the process that the descriptor stands for, never to another of its number. 0, or a negative errno. */
int reach_pidfd_send_signal(int descriptor, int number);

#endif
