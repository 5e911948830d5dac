#include "reach_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { sealed = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

void reach_release_free_memory(void)
{
    malloc_trim(0);
}

/* Copies the data, not the holes, of [begin, end) of one file to another at `place`. The end of the source ends it early. */
static int copy_data(int from, off_t begin, off_t end, int to, off_t place)
{
    for (off_t data = begin; data < end;) {
        off_t start = lseek(from, data, SEEK_DATA);
        if (start < 0 && errno == ENXIO)
            return 0;
        off_t hole = start < 0 ? end : lseek(from, start, SEEK_HOLE);
        if (start < 0)
            start = data; /* a file system without holes */
        if (hole < 0 || hole > end)
            hole = end;
        if (start >= end)
            return 0;
        if (lseek(to, place + (start - begin), SEEK_SET) < 0)
            return -errno;
        while (start < hole) {
            ssize_t count = sendfile(to, from, &start, (size_t)(hole - start));
            if (count < 0 && errno != EINTR)
                return -errno;
            if (count == 0)
                return 0;
        }
        data = hole;
    }
    return 0;
}

static int fill(int memory, int file, long long offset, long long most)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return -errno;
    long long rest = status.st_size > offset ? status.st_size - offset : 0;
    long long length = rest < most ? rest : most;
    if (ftruncate(memory, length) != 0)
        return -errno;
    int result = copy_data(file, offset, offset + length, memory, 0);
    /* What was cut off meanwhile is not zeros. */
    if (result == 0 && fstat(file, &status) == 0 && status.st_size < offset + length
        && ftruncate(memory, status.st_size > offset ? status.st_size - offset : 0) != 0)
        result = -errno;
    if (result == 0 && fcntl(memory, F_ADD_SEALS, sealed) != 0)
        result = -errno;
    return result;
}

int reach_seal_part(int file, long long offset, long long most)
{
    int memory = memfd_create("reach-body", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0)
        return -errno;
    int result = fill(memory, file, offset, most);
    if (result < 0) {
        close(memory);
        return result;
    }
    return memory;
}

long long reach_sealed_length(int file)
{
    struct stat status;
    /* Only files in memory have seals. */
    int seals = fcntl(file, F_GET_SEALS);
    if (seals < 0 || (seals & sealed) != sealed || fstat(file, &status) != 0)
        return -EINVAL;
    return status.st_size;
}

int reach_append_sealed(int memory, long long length, int file)
{
    off_t end = lseek(file, 0, SEEK_END);
    if (end < 0)
        return -errno;
    int result = copy_data(memory, 0, length, file, end);
    if (result == 0 && ftruncate(file, end + length) != 0)
        result = -errno;
    return result;
}
