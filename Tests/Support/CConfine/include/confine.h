/* Takes system calls away from the calling thread, as sandboxes do. For tests. */
#ifndef REACH_TEST_CONFINE_H
#define REACH_TEST_CONFINE_H

/* SO_BINDTODEVICE fails with EPERM from now on. Returns 0, or an errno number. */
int reach_confine_deny_binding(void);

#endif
