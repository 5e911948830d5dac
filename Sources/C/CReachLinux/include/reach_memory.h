/* Functions on memory that need _GNU_SOURCE. Each returns -errno on failure, unless it says otherwise. */
#ifndef REACH_MEMORY_H
#define REACH_MEMORY_H

/* Gives free memory of the heap back (malloc_trim(3)). */
void reach_release_free_memory(void);

/* Makes a file in memory with a part of a regular file: from `offset` on, at most `most` bytes, holes as holes. Nothing can
   change it any more, and its length may be less at the end of the file. Returns its descriptor, not inherited by children. */
int reach_seal_part(int file, long long offset, long long most);

/* The length of a file in memory that nothing can change any more. -EINVAL for any other file: the length and the bytes of a
   file of another process can change at any time, and a file system of a user may never answer. */
long long reach_sealed_length(int file);

/* Appends a sealed file to another one, holes as holes. Returns 0. */
int reach_append_sealed(int sealed, long long length, int file);

#endif
