#include "reach_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int reach_memory_file(const void *bytes, size_t count)
{
    int file = memfd_create("reach-event", MFD_CLOEXEC);
    if (file < 0)
        return -errno;
    if (pwrite(file, bytes, count, 0) != (ssize_t)count) {
        close(file);
        return -EIO;
    }
    return file;
}

int reach_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return 0;
}

/* A process group of its own. A daemon's threads block every signal, and the daemon ignores some; a child would inherit
   both. */
static int separate(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error)
        error = posix_spawnattr_setpgroup(attributes, 0);
    if (!error)
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return error;
}

static int describe(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes, int input, int output)
{
    int error = posix_spawn_file_actions_adddup2(files, input, STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(files, output, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(files, output, STDERR_FILENO);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
    if (!error)
        error = posix_spawn_file_actions_addchdir_np(files, "/");
    return error ? error : separate(attributes);
}

int reach_spawn(const char *path, char *const environment[], int input, int output, pid_t *process)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char *const arguments[] = {(char *)path, NULL};
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    int error = describe(&files, &attributes, input, output);
    if (!error)
        error = posix_spawn(process, path, &files, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return -error;
}

void reach_adopt_orphans(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int reach_spawn_job(char *const arguments[], int terminal, pid_t *process)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    int error = separate(&attributes);
    if (!error && terminal >= 0)
        error = posix_spawn_file_actions_addtcsetpgrp_np(&files, terminal);
    if (!error)
        error = posix_spawnp(process, arguments[0], &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return -error;
}

void reach_limit_descriptors(pid_t process, unsigned long soft)
{
    struct rlimit limits;
    if (prlimit(process, RLIMIT_NOFILE, NULL, &limits) == 0 && soft < limits.rlim_cur) {
        limits.rlim_cur = soft;
        prlimit(process, RLIMIT_NOFILE, &limits, NULL);
    }
}

int reach_pidfd_send_signal(int descriptor, int number)
{
    return syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0) < 0 ? -errno : 0;
}

int reach_pidfd_open(pid_t process)
{
    /* glibc has a wrapper only since 2.36. */
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    return descriptor < 0 ? -errno : descriptor;
}
