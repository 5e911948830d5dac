#include "reach_memory.h"

#include <malloc.h>

void reach_release_free_memory(void)
{
    malloc_trim(0);
}
