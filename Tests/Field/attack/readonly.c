/* Makes a directory's file system read-only for a process while the file that READ_ONLY_MARK names exists: the file system cannot
 * become writable again on current kernels, once an error has made it read-only. READ_ONLY_BELOW is the directory. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_below(const char *path)
{
    const char *mark = getenv("READ_ONLY_MARK"), *below = getenv("READ_ONLY_BELOW");
    return mark != NULL && below != NULL && access(mark, F_OK) == 0 && strncmp(path, below, strlen(below)) == 0;
}

static int refuses(int descriptor)
{
    int before = errno;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    path[count > 0 ? count : 0] = '\0';
    int refused = is_below(path);
    errno = refused ? EROFS : before;
    return refused;
}

static int refuses_path(int directory, const char *path)
{
    char whole[PATH_MAX * 2], link[64], base[PATH_MAX] = "";
    if (path[0] != '/') {
        snprintf(link, sizeof link, directory == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", directory);
        ssize_t count = readlink(link, base, sizeof base - 1);
        base[count > 0 ? count : 0] = '\0';
    }
    snprintf(whole, sizeof whole, "%s%s%s", base, path[0] == '/' ? "" : "/", path);
    if (!is_below(whole))
        return 0;
    errno = EROFS;
    return 1;
}

#define REAL(name) static __typeof__(&name) real; if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define WRITER(result, name, parameters, arguments)                                                                    \
    result name parameters                                                                                             \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        return refuses(fd) ? -1 : real arguments;                                                                      \
    }
WRITER(ssize_t, write, (int fd, const void *bytes, size_t count), (fd, bytes, count))
WRITER(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRITER(ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t at), (fd, bytes, count, at))
WRITER(ssize_t, pwrite64, (int fd, const void *bytes, size_t count, off64_t at), (fd, bytes, count, at))
WRITER(int, ftruncate, (int fd, off_t size), (fd, size))
WRITER(int, ftruncate64, (int fd, off64_t size), (fd, size))
WRITER(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
WRITER(int, futimens, (int fd, const struct timespec times[2]), (fd, times))
WRITER(int, fchmod, (int fd, mode_t mode), (fd, mode))

#define NAMER(name, parameters, directory, path, arguments)                                                            \
    int name parameters                                                                                                \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        return refuses_path(directory, path) ? -1 : real arguments;                                                    \
    }
NAMER(mkdir, (const char *path, mode_t mode), AT_FDCWD, path, (path, mode))
NAMER(mkdirat, (int at, const char *path, mode_t mode), at, path, (at, path, mode))
NAMER(unlink, (const char *path), AT_FDCWD, path, (path))
NAMER(unlinkat, (int at, const char *path, int flags), at, path, (at, path, flags))
NAMER(rename, (const char *from, const char *to), AT_FDCWD, to, (from, to))
NAMER(renameat, (int from, const char *path, int at, const char *to), at, to, (from, path, at, to))

static int opens(int directory, const char *path, int flags)
{
    return (flags & (O_CREAT | O_TRUNC)) == 0 && (flags & O_ACCMODE) == O_RDONLY ? 0 : refuses_path(directory, path);
}

#define MODE(last) va_list rest; va_start(rest, last); mode_t mode = va_arg(rest, mode_t); va_end(rest)

int open(const char *path, int flags, ...)
{
    REAL(open);
    MODE(flags);
    return opens(AT_FDCWD, path, flags) ? -1 : real(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    REAL(open64);
    MODE(flags);
    return opens(AT_FDCWD, path, flags) ? -1 : real(path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    REAL(openat);
    MODE(flags);
    return opens(directory, path, flags) ? -1 : real(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
    REAL(openat64);
    MODE(flags);
    return opens(directory, path, flags) ? -1 : real(directory, path, flags, mode);
}
