/* Gives memory back to the kernel. */
#ifndef REACH_MEMORY_H
#define REACH_MEMORY_H

/* Gives free memory of the heap back (malloc_trim(3)). */
void reach_release_free_memory(void);

#endif
