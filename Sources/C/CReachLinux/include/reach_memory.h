/* Functions that give memory back to the kernel, which need _GNU_SOURCE. */
#ifndef REACH_MEMORY_H
#define REACH_MEMORY_H

/* Unmaps the pages of the program and its libraries that are never written: code, constants, tables of the loader. Those
   that are read again come back from the page cache, by a minor fault for up to 16 pages. */
void reach_release_read_only_pages(void);

/* Gives free memory of the heap back (malloc_trim(3)). */
void reach_release_free_memory(void);

#endif
