/* Denies system calls to the calling thread, as sandboxes do. For tests. */
#ifndef REACH_TEST_CONFINE_H
#define REACH_TEST_CONFINE_H

/* Makes SO_BINDTODEVICE fail with EPERM from now on. Returns 0, or an errno number. */
int reach_confine_deny_binding(void);

/* Makes the calling thread alone act as a user; glibc's seteuid does so for all threads. Returns 0, or an errno number. */
int reach_confine_become(unsigned user);

#endif
